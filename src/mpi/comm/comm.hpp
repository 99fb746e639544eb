// Comm: one rank's view of a communicator. What all members in this node process have in common (group,
// context ids, where collectives come together) is in one CommShared. MPI report, chapter 7.4. An
// intercommunicator (7.6) has one CommShared for each side: `group` is that side's, `peers` the other's; the
// context id, and where the members of both sides come together, are the same. Its
// messages go between the groups, and each side has a communicator of its own, `local`, for what its members
// do together. docs/design/communicators.md.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/owned.hpp"
#include "base/platform.hpp"
#include "mpi.h"
#include "mpi/base/attributes.hpp"
#include "mpi/base/error.hpp"
#include "mpi/base/handle_memory.hpp"
#include "mpi/base/other_jobs.hpp"
#include "mpi/comm/group.hpp"

namespace tmpi::mpi {

struct Rank;
struct Errhandler;
struct Topology;     // topology.hpp: grid or graph
struct Neighbours;   // topology.hpp
struct ErrorTarget;  // rank/call.hpp
// What rooms above hang on a communicator:
class CollShared;   // shm/coll_shared.hpp: where the members in this node process come together
class ShadowComms;  // shm/shadow_comm.hpp: nonblocking collectives
struct Hierarchy;   // coll/hierarchy/: the parts of a communicator with members in several node processes
struct Algorithm;   // coll/algorithm.hpp
struct WantedAlgorithms;  // coll/wanted.hpp: a choice for this communicator alone

/// Context ids are 64 bit and unique in the job (context.hpp). Each communicator has two: point-to-point =
/// id, collectives = id | kCollective, so that no wildcard ever catches a collective's message.
using ContextId = std::uint64_t;
inline constexpr ContextId kCollective = ContextId{1} << 63;

/// Contexts that exist without anybody creating them. All ranks' MPI_COMM_SELF may have the same: its
/// messages stay in one matcher.
inline constexpr ContextId kWorldContext = 1;
inline constexpr ContextId kSelfContext = 2;

/// Made with make_comm_shared() (shm/coll_shared.hpp).
struct CommShared {
  /// `together` is where the members come together.
  CommShared(ContextId context, std::shared_ptr<const Group> group, std::shared_ptr<CollShared> together);
  /// One side of an intercommunicator. `both` is where both sides come together: side 0's members first.
  CommShared(ContextId context, std::shared_ptr<const Group> group, std::shared_ptr<const Group> remote,
             std::shared_ptr<CollShared> both, int side);
  ~CommShared();
  const ContextId context;
  const std::shared_ptr<const Group> group;
  const std::shared_ptr<const Group> peers;  ///< whom ranks in messages mean: the remote group, or `group`
  const std::shared_ptr<CollShared> coll;
  const int side = 0;                   ///< of an intercommunicator: 0 or 1
  const int first_member = 0;           ///< member index of this side's rank 0
  OtherJob* const other_job = nullptr;  ///< that some of its ranks are of
  /// It does not count among the communicators shared with the other job any more: all members have come to
  /// MPI_Comm_disconnect, whoever in this process has not run since then; or it stands for one that counts. Any thread, any
  /// number of times.
  void let_go() noexcept;

 private:
  std::atomic<bool> let_go_{false};
};

/// Kinds of collectives (coll/args.hpp, Collective).
inline constexpr int kCollectives = 13;

/// What the selection table took for the last call of a kind, so that the next one like it need not ask
/// (coll/table.cpp).
struct ChosenAlgorithm {
  std::uint64_t call = 0;  ///< the collective, and what it is called with; 0: none yet
  const Algorithm* algorithm = nullptr;
};

/// A collective by thousands of ranks takes as long as the cache lines that it touches: what each looks at is in the
/// first, what it has taken last for this collective is in one more.
struct alignas(kCacheLine) Comm {
  TMPI_IN_HANDLE_MEMORY(HandleKind::kComm, Comm)
  static constexpr std::uint32_t kMagic = 0x434f4d4d;  // "COMM"
  static constexpr std::uint32_t kComing =
      0x434f4d3f;  // "COM?": its MPI_Comm_idup is under way (create/idup.cpp)
  std::uint32_t magic = kMagic;
  int rank = 0;                     ///< mine in this communicator
  int size = 1;                     ///< = shared->group->size(), kept here for the hot path
  int peers = 1;                    ///< = shared->peers->size(): ranks that a message can go to
  ContextId context = 0;            ///< = shared->context, kept here for the hot path
  std::uint64_t coll_sequence = 0;  ///< shared-memory barriers this rank has come to (shm/shared_barrier.hpp)
  int references = 1;               ///< the handle and every request in flight; touched by the owner only
  int message_space = 0;            ///< of one shadow of many on one context: tells their messages apart
  std::shared_ptr<CommShared> shared;
  Comm* local = nullptr;  ///< of an intercommunicator: the local group's intracommunicator, owned; else null
  alignas(kCacheLine) std::array<ChosenAlgorithm, kCollectives> chosen;  ///< by collective
  Rank* owner = nullptr;  ///< senders look at it, so nothing that each message changes is in its line
  std::uint64_t rooted_sequence = 0;  ///< collectives in the slot ring it has come to (shm/slot_ring.hpp)
  std::uint64_t idup_sequence = 0;    ///< nonblocking duplications this rank has started (create/idup.cpp)
  const void* session = nullptr;      ///< that it comes from, directly or not; null: the world model
  Errhandler* errhandler = nullptr;   ///< null: MPI_ERRORS_ARE_FATAL
  std::shared_ptr<const Topology> topology;                ///< null: none
  mutable Owned<Neighbours> neighbours;                    ///< of the topology, found out when first needed
  std::unique_ptr<Attributes> attributes;                  ///< null: none
  Owned<ShadowComms> shadows;                              ///< null: no nonblocking collectives so far
  Owned<Hierarchy> hierarchy;                              ///< null: not needed so far
  Owned<WantedAlgorithms> wanted;                          ///< null: none
  const Comm* stands_for = nullptr;                        ///< of a shadow: the communicator; else null
  std::vector<std::pair<std::string, std::string>> hints;  ///< key, value (comm/hints.hpp)
  std::string name;
  MPI_Comm handle = MPI_COMM_NULL;  ///< MPI_COMM_WORLD / MPI_COMM_SELF, else the pointer itself
  /// Of a communicator that an object has for itself (a file): what its errors are raised on; else null.
  const ErrorTarget* raised_on = nullptr;
  // The rank's list of those that have been made (Rank::comms), for debuggers alone: list_in().
  Comm* next_made = nullptr;
  Comm** named_by = nullptr;  ///< what points at it there; null: in no list

  bool inter() const noexcept { return local != nullptr; }
  /// My index among all members, and how many there are. On an intercommunicator those of both sides count,
  /// since they come together at one shared-memory barrier; else the same as rank and size.
  int member_index() const noexcept { return shared->first_member + rank; }
  int members() const noexcept { return inter() ? size + peers : size; }
};

inline MPI_Comm handle_of(const Comm* comm) noexcept {  // null: none
  return comm == nullptr ? MPI_COMM_NULL : comm->handle;
}

/// Puts it in front of the list that begins with `first`, until it is freed.
void list_in(Comm*& first, Comm& comm) noexcept;

/// Frees a communicator that nobody refers to any more.
void destroy(Comm& comm) noexcept;

/// Gives a reference back; the last one frees the object (MPI_Comm_free while requests are pending: MPI
/// report, 7.4.3).
inline void release(Comm& comm) noexcept {
  if (--comm.references == 0) destroy(comm);
}

}  // namespace tmpi::mpi
