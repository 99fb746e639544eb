// Rank: an MPI process, everything the library keeps for it. Job: what all ranks of this node process have in
// common.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/owned.hpp"
#include "base/platform.hpp"
#include "mpi/base/handles.hpp"
#include "mpi/base/interop.hpp"
#include "mpi/base/placement.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/match/matcher.hpp"
#include "mpi/rank/bindings.hpp"
#include "mpi/rank/figures.hpp"
#include "mpi/rank/world.hpp"
#include "mpi/request/request_pool.hpp"
#include "sched/task.hpp"
#include "sched/waiter.hpp"

namespace tmpi::mpi {

class SendBuffer;  // p2p/buffered.hpp: MPI_Buffer_attach
class UserErrors;  // base/user_errors.hpp: MPI_Add_error_class
class Keyvals;     // base/attributes.hpp: MPI_Comm_create_keyval
class Info;        // base/info.hpp
class RankFiles;   // io/rank_files.hpp: what a rank has said of files
namespace tool {
class State;  // tool/state.hpp: what a rank does with the tools interface
}

/// kInitialized: between MPI_Init and MPI_Finalize, or while a session is open: MPI can be called.
enum class Phase : unsigned char { kBeforeInit, kInitialized, kFinalized };

struct Rank {
  Rank();
  ~Rank();

  sched::Task* task = nullptr;
  int world_rank = 0;   ///< its number in the job: as in MPI_COMM_WORLD, but for spawned ranks (world.hpp)
  int local_index = 0;  ///< among the ranks of this node process: Job::local_at()
  World* started_with = nullptr;
  // Read by the rank's threads: seq_cst, what was set up before is seen.
  std::atomic<Phase> phase{Phase::kBeforeInit};
  std::atomic<Phase> world_phase{Phase::kBeforeInit};  ///< of MPI_Init and MPI_Finalize
  int open_sessions = 0;                               ///< MPI_Session_init without MPI_Session_finalize
  std::atomic<int> thread_level{MPI_THREAD_SINGLE};
  std::atomic<bool> has_threads{false};  ///< it has created some, ever (threads.hpp); relaxed
  bool pinned = false;                   ///< by MPIX_Pin
  bool revived = false;                  ///< from a checkpoint, with all ranks of its job (save)
  double ran = 0;                        ///< MPIX_Rtime since the last use of MPI is over
  /// Index of its worker, -1 until MPI_Init, and if ranks move; relaxed. Not far from the top: senders read it, nobody
  /// writes this line but who moves the rank.
  std::atomic<int> worker{-1};
  /// The same if ranks move: where it is now, or has been a moment ago. Who has left something in a channel there looks
  /// at it once more (p2p/send.cpp).
  std::atomic<int> place{-1};
  alignas(kCacheLine) Matcher matcher;  ///< messages to this rank; the only part other workers write
  /// The rank's own: not in a line that senders look at.
  alignas(kCacheLine) RequestPool requests;
  std::uint64_t first_look =
      0;  ///< ticks: the first wait or test since the last start that somebody times (p2p/remote_calls.hpp)
  std::uint64_t last_start = 0;  ///< ticks: when that had been made
  std::uint32_t at_once = 0;     ///< calls that had not to wait since others had their turn (p2p/turn.hpp)
  /// Of a receiver of its worker, by nonblocking sends: lets others run when it waits.
  bool ahead = false;
  Comm world;
  Comm self;
  Comm* comms =
      nullptr;  ///< those that it has made, youngest first, those of the library among them; for debuggers
  Message* matched =
      nullptr;             ///< found by matched probes and not received yet: the program has handles of them
  Comm* parent = nullptr;  ///< MPI_Comm_get_parent; null: not spawned, or it has been freed or disconnected
  bool has_ports = false;  ///< it has opened a port or published a name, ever
  Owned<SendBuffer> buffer;                 ///< null: none attached
  std::unique_ptr<UserErrors> user_errors;  ///< null: none added yet
  std::unique_ptr<Keyvals> keyvals;         ///< null: none made yet
  std::unique_ptr<Info> start_info;         ///< MPI_INFO_ENV; null: not asked for yet
  Interop interop;                          ///< for other languages
  Bindings bindings;                        ///< of other languages
  Owned<RankFiles> files;                   ///< null: nothing said yet
  /// Name of the nonblocking collective call that it has started last; for reports, relaxed.
  std::atomic<const char*> nonblocking_call{nullptr};
  int busy_shadows = 0;                  ///< shadow communicators with operations (coll/nonblocking.hpp)
  sched::Waiter* shadows_end = nullptr;  ///< MPI_Finalize, waiting for the last of them
  std::string explanation;               ///< see error.hpp
  int returned_error = MPI_SUCCESS;      ///< code that MPI_ERRORS_RETURN has returned last
  /// Null: never initialized; once made it stays. Release, acquire.
  std::atomic<tool::State*> tools{nullptr};
  /// Its threads may call the tools interface at any time (threads.hpp). seq_cst: they have been admitted.
  std::atomic<bool> tools_in_threads{false};
  RankFigures figures;

  /// It has been suspended in a wait.
  void others_had_turn() noexcept { ahead = false, at_once = 0; }
  /// Name of the MPI call that it is in or was in last; for state dumps, read racily.
  void set_call(const char* name) noexcept { task->call.store(name, std::memory_order_relaxed); }
  const char* call() const noexcept { return task->call.load(std::memory_order_relaxed); }
};

/// The MPI library's view of the job on this node process.
class Job {
 public:
  /// Ranks that the job began with: the size of tmpirun's MPI_COMM_WORLD.
  int size() const noexcept { return placement_.size(); }
  /// All numbers of ranks, of spawned ones too, are below. Any thread; rises.
  int end() const noexcept { return end_.load(std::memory_order_acquire); }
  /// The rank with this world rank if it lives in this node process, else null.
  Rank* local(int world_rank) noexcept {
    const auto index = static_cast<std::size_t>(static_cast<unsigned>(world_rank));
    return index < places_ ? by_world_rank_[index].load(std::memory_order_acquire) : nullptr;
  }
  int local_count() const noexcept { return local_count_.load(std::memory_order_acquire); }
  /// The rank with this index among those of this node process: world by world, ascending in each.
  Rank& local_at(int index) noexcept { return *local_[static_cast<std::size_t>(index)]; }
  /// More ranks than this are never here: what is kept by local_index may have fixed room.
  int most_local() const noexcept { return most_local_; }

  /// tmpirun's own world.
  World& first_world() noexcept { return *worlds_.front(); }
  /// Adds a spawned world: `node_of` says where its ranks live. Those that live here are made, and returned in their
  /// order, without a task; nobody finds them before publish(). Any thread, not in parallel. They and the world live as
  /// long as the job.
  std::pair<World*, std::vector<Rank*>> add_world(std::unique_ptr<World> world,
                                                  const std::vector<int>& node_of);
  /// They have their tasks: others may find them.
  void publish(const std::vector<Rank*>& ranks);

  const Placement& placement() const noexcept { return placement_; }
  int nodes() const noexcept { return placement_.nodes(); }
  int all_nodes() const noexcept { return placement_.all_nodes(); }
  int node_of(int world_rank) const noexcept { return placement_.node_of(world_rank); }
  /// Name of this machine, and of the one that a rank runs on.
  const std::string& host() const noexcept { return host_; }
  const std::string& host_of(int world_rank) const noexcept {
    return nodes() == 1 ? host_ : placement_.host_of_node(node_of(world_rank));
  }

  /// Sets up the ranks that `placement` gives to this node process. Once per process, before any rank runs.
  static Job& create(Placement placement);

 private:
  using Places = std::unique_ptr<std::atomic<Rank*>[], void (*)(void*) noexcept>;

  friend struct FactsOfRanks;  // mpi/diagnose/debugger_facts.cpp
  Placement placement_;
  std::vector<std::unique_ptr<World>> worlds_;
  // With the worlds; never resized. Vectors, since they point at where their memory begins: leak checkers find it.
  std::vector<std::vector<Rank>> made_;
  std::vector<Rank*> local_;         // room for most_local_: never moves
  std::atomic<int> local_count_{0};  // release, acquire: ranks below are complete
  std::atomic<int> end_{0};          // the same for worlds
  int most_local_ = 0;
  std::size_t places_ = 0;
  Places by_world_rank_{nullptr, nullptr};  // null: on another node. Release, acquire
  std::string host_;
};

namespace detail {
extern Job* g_job;  // written once, by Job::create
}

/// The job; null while the program has not been started by tmpirun and has not called MPI_Init.
inline Job* job() noexcept {
  return detail::g_job;
}

/// The rank that runs on the calling thread. Only inside MPI calls of an initialized rank. Re-read after
/// every scheduling point.
inline Rank& current_rank() noexcept {
  return *static_cast<Rank*>(sched::current()->owner);
}

/// The communicator of the rank behind a handle, null if the handle is none. WORLD and SELF are fields of the rank.
inline Comm* comm_from(Rank& rank, MPI_Comm handle) noexcept {
  if (is_predefined(handle)) {
    Comm* const comm = handle == MPI_COMM_WORLD  ? &rank.world
                       : handle == MPI_COMM_SELF ? &rank.self
                                                 : nullptr;
    // Without MPI_Init (sessions only), and after MPI_Finalize, there are none.
    return comm != nullptr && comm->shared != nullptr ? comm : nullptr;
  }
  Comm* const comm = reinterpret_cast<Comm*>(handle);
  return comm->magic == Comm::kMagic ? comm : nullptr;
}

/// The same, and one whose MPI_Comm_idup is under way.
inline Comm* coming_comm_from(Rank& rank, MPI_Comm handle) noexcept {
  if (is_predefined(handle)) return comm_from(rank, handle);
  Comm* const comm = reinterpret_cast<Comm*>(handle);
  return comm->magic == Comm::kMagic || comm->magic == Comm::kComing ? comm : nullptr;
}

}  // namespace tmpi::mpi
