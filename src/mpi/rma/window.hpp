// Window: one rank's view of a window (MPI_Win), and what its members in this node process have in common. MPI report,
// chapter 12. Ranks of a node share an address space, so whoever knows where a member's memory lies copies into it; the
// memory model is MPI_WIN_UNIFIED. docs/design/one-sided.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "mpi/base/attributes.hpp"
#include "mpi/base/errhandler.hpp"
#include "mpi/base/handles.hpp"
#include "mpi/base/info.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/rma/regions.hpp"
#include "mpi/rma/remote_state.hpp"
#include "mpi/rma/row.hpp"
#include "mpi/rma/tally.hpp"
#include "mpi/rma/target_lock.hpp"

namespace tmpi::mpi {

struct Window;

/// What every member knows of each.
struct Extent {
  Address base = 0;
  MPI_Aint size = 0;
  MPI_Aint disp_unit = 1;
};

/// What may be accessed of a member without asking further.
struct Reach {
  Address base = 0;
  MPI_Aint size = -1;  ///< in bytes; -1: it lives in another node process, or the window is dynamic
  MPI_Aint disp_unit = 1;
};

/// What a member in this node process shows the others. Any of them, and whoever looks at the network, uses it.
struct Member {
  Rank* rank = nullptr;
  std::atomic<Window*> window{nullptr};  ///< from its creation by the member to its end; release and acquire
  TargetLock lock;
  Tally posts;      ///< from those whose memory it is to access
  Tally completes;  ///< from those that have accessed its memory
  Regions regions;  ///< of a dynamic window
  RowLock rows;     ///< of accumulates of several elements
};

/// How memory that is the window's is to lie.
struct WindowMemory {
  bool contiguous = true;  ///< shared memory: a member's begins where that of the one before ends
  std::vector<std::uint64_t> alignments;  ///< by member; of contiguous memory the beginning has the largest
};

class WindowShared {
 public:
  /// Memory that is the window's is allocated here, for the members of this node process that bring none. Throws
  /// std::bad_alloc.
  WindowShared(ContextId context, std::shared_ptr<const Group> group, int flavor, std::vector<Extent> extents,
               const WindowMemory& memory);
  ~WindowShared();

  const ContextId context;
  const std::shared_ptr<const Group> group;
  const int flavor;  ///< MPI_WIN_FLAVOR_...

  const Extent& extent(int rank) const noexcept { return extents_[static_cast<std::size_t>(rank)]; }
  /// Null: in another node process.
  Member* member(int rank) const noexcept { return members_[static_cast<std::size_t>(rank)]; }
  const Reach* reach() const noexcept { return reach_.data(); }  ///< by rank
  std::deque<Member>& here() noexcept { return here_; }
  int size() const noexcept { return static_cast<int>(members_.size()); }

 private:
  void allocate_each(const WindowMemory& memory);
  void allocate_together(const WindowMemory& memory);
  Address allocate(MPI_Aint bytes, std::size_t alignment);

  std::vector<Extent> extents_;
  std::vector<Reach> reach_;
  std::vector<Member*> members_;
  std::deque<Member> here_;
  // Its own destructor frees it: memory for the rest may be missing, while the window is made.
  struct Blocks {
    struct Block {
      void* memory;
      std::size_t mapped;  // 0: from the heap
    };
    std::vector<Block> all;
    Blocks() = default;
    Blocks(const Blocks&) = delete;
    Blocks& operator=(const Blocks&) = delete;
    ~Blocks();
  };
  Blocks blocks_;
};

/// Which accesses a rank may make.
enum class Epoch : std::uint8_t {
  kNone,
  kFence,      ///< a fence has opened one; nobody has used it so far
  kFenceUsed,  ///< and has been used: only a fence ends it
  kStart,
  kLock,  ///< of single targets
  kLockAll,
};

struct Window {
  TMPI_IN_HANDLE_MEMORY(HandleKind::kWindow, Window)
  static constexpr std::uint32_t kMagic = 0x57494e44;  // "WIND"
  std::uint32_t magic = kMagic;
  Epoch epoch = Epoch::kNone;
  bool one_flow = false;         ///< one_flow_at_a_time(), remote.hpp
  unsigned polls = 0;            ///< calls that a program may wait with (synchronize.hpp)
  unsigned size = 0;             ///< members
  const Reach* reach = nullptr;  ///< = members->reach()
  int rank = 0;
  std::atomic<unsigned> order{0};     ///< MPI_Win_sync
  int locks = 0;                      ///< kLock: targets that are locked, MPI_PROC_NULL included
  int null_locks = 0;                 ///< kLock: of them MPI_PROC_NULL
  std::vector<std::uint8_t> targets;  ///< by rank: Target; empty: never needed
  WindowShared* members = nullptr;    ///< = shared.get()
  Comm* comm = nullptr;               ///< the members' own; the program does not know it
  std::shared_ptr<WindowShared> shared;
  bool exposed = false;                 ///< MPI_Win_post without MPI_Win_wait
  bool no_locks = false;                ///< the program has promised
  std::vector<int> started;             ///< kStart: ranks
  std::vector<int> posted;              ///< `exposed`: ranks
  std::unique_ptr<RemoteState> remote;  ///< null: all members live here
  Errhandler* errhandler = nullptr;     ///< null: MPI_ERRORS_ARE_FATAL
  std::unique_ptr<Attributes> attributes;
  std::vector<Info::Entry> hints;
  std::string name;
  // What the predefined attributes point to.
  MPI_Aint size_attribute = 0;
  int disp_unit_attribute = 1, flavor_attribute = 0, model_attribute = MPI_WIN_UNIFIED;

  Member& mine() const noexcept { return *members->member(rank); }
  /// Room for all targets in `targets`.
  void know_targets() {
    if (targets.empty()) targets.resize(static_cast<std::size_t>(members->size()));
  }
};
/// What a rank has of a target: in a window's `targets`. kAsked: in an epoch of MPI_Win_lock_all, one of its flows waits
/// for the lock of a member on another node.
enum Target : std::uint8_t { kNothing, kStarted, kShared, kExclusive, kUnchecked, kAsked };

/// Null for MPI_WIN_NULL and for what is no window.
inline Window* window_from(MPI_Win handle) noexcept {
  auto* const window = reinterpret_cast<Window*>(handle);
  const bool possible = !is_predefined(handle) && reinterpret_cast<Address>(handle) % alignof(Window) == 0;
  return possible && window->magic == Window::kMagic ? window : nullptr;
}
inline MPI_Win handle_of(const Window& window) noexcept {
  return reinterpret_cast<MPI_Win>(const_cast<Window*>(&window));
}

/// The window in this node process with this context; null: there is none. Any thread.
WindowShared* find_window(ContextId context) noexcept;

}  // namespace tmpi::mpi
