// Function: what --check knows of an MPI function's arguments: which are handles, and what the call does with
// them; which buffers it reads and writes; what must be the same in all members of a communicator, window or file. The
// table of all functions is generated (tools/generate_checked_functions.py).
#pragma once

#include <array>
#include <cstdint>

namespace tmpi::check {

enum class HandleKind : std::uint8_t {
  kComm,
  kType,
  kRequest,
  kGroup,
  kOp,
  kInfo,
  kErrhandler,
  kSession,
  kMessage,
  kFile,
  kWin,
};
inline constexpr int kHandleKinds = static_cast<int>(HandleKind::kWin) + 1;
const char* name_of(HandleKind kind) noexcept;  ///< "communicator"

/// What a call does with the handles that an argument is or points to.
enum class Use : std::uint8_t {
  kIn,           ///< by value
  kInPlace,      ///< behind a pointer, one or several; they stay what they are
  kFreed,        ///< behind a pointer; gone when the call has succeeded
  kCompleted,    ///< requests that the call may complete
  kQueried,      ///< requests of which the call may tell that they are complete
  kOut,          ///< made
  kOutConstant,  ///< known from now on, but not the program's to free
  kOutLater,     ///< made when the request of the same call completes
  kContents,     ///< what MPI_Type_get_contents gives away
};

struct HandleUse {
  std::int8_t argument = 0;
  HandleKind kind = HandleKind::kComm;
  Use use = Use::kIn;
  std::int8_t length = -1;  ///< argument with the length of the array, -1: none
};

/// How a message, a collective or an access to a file uses its buffers.
enum class Traffic : std::uint8_t {
  kNone,
  kSend,
  kReceive,
  kSendReceive,
  kReplace,
  kBcast,
  kReduce,
  kReduceAll,
  kGather,
  kScatter,
  kAllgather,
  kAlltoall,
  kNeighborAllgather,
  kNeighborAlltoall,
  kFileRead,
  kFileWrite,
};

/// Which side of a collective is one chunk, and which has a chunk for each member; where the communicator has a
/// root and a side only counts there, it is that one.
enum class Pattern : std::uint8_t {
  kNone,
  kGather,             ///< sends one, the root receives one from each
  kScatter,            ///< the root sends one to each, receives one
  kAllgather,          ///< sends one, receives one from each
  kAlltoall,           ///< sends one to each, receives one from each
  kReduce,             ///< both are one vector, at the root
  kReduceAll,          ///< both are one vector
  kReduceScatter,      ///< sends a chunk for each, receives its own
  kNeighborAllgather,  ///< sends one, receives one from each neighbour
  kNeighborAlltoall,   ///< sends one to each neighbour, receives one from each
};

/// What members of a communicator, a window or a file must agree on, beside the function.
enum class Match : std::uint8_t {
  kNone,           ///< not a collective
  kFunction,       ///< nothing else
  kRoot,           ///< root
  kBcast,          ///< root, data
  kReduce,         ///< root, operator, count, type
  kReduceAll,      ///< operator, count, type
  kGather,         ///< root, data of one member
  kScatter,        ///< root, data of one member
  kReceived,       ///< data received from each member
  kReduceScatter,  ///< operator, type, sum of the counts
  kReduceBlock,    ///< operator, count, type
  // Those with Function::agreed:
  kOpen,       ///< the access mode
  kWindow,     ///< size and unit, as far as hints say that they are the same
  kFence,      ///< the assertions that concern all members
  kSize,       ///< of a file
  kView,       ///< data representation, extent of the etype
  kSeek,       ///< offset, whence
  kAtomicity,  ///< on or off
};

/// What a call does with memory of a window.
enum class OneSided : std::uint8_t { kNone, kGet, kPut, kAtomic };

/// What a call says of the order of calls of one-sided communication (rank_clocks.hpp).
enum class Ordering : std::uint8_t {
  kNone,
  kMakes,       ///< a window
  kFence,       ///< completes everything; what a collective call orders, it orders as well
  kLock,        ///< of `target`, or of all
  kUnlock,      ///< likewise
  kFlush,       ///< likewise
  kFlushLocal,  ///< likewise
  kSync,
  kPost,
  kStart,
  kComplete,
  kWait,
  kReceives,       ///< messages may have been received behind it, requests may be complete
  kSees,           ///< messages may have been seen
  kTells,          ///< partners that are not known here
  kTellsAndHears,  ///< partners likewise
  kCancels,
};

/// Of a split collective operation.
enum class Half : std::uint8_t { kNone, kBegin, kEnd };

enum class Lifetime : std::uint8_t { kBlocking, kNonblocking, kPersistent };

/// Indices of arguments, -1 where the function has none.
struct Places {
  std::int8_t comm = -1;
  std::int8_t members = -1;  ///< the communicator, window or file whose members make the call together
  std::int8_t root = -1;
  std::int8_t op = -1;
  std::int8_t buffer = -1;
  std::int8_t count = -1;
  std::int8_t type = -1;
  std::int8_t counts = -1;  ///< the array of the sending side, of the varying forms
  std::int8_t displs = -1;
  std::int8_t types = -1;
  std::int8_t receive_buffer = -1;
  std::int8_t receive_count = -1;
  std::int8_t receive_type = -1;
  std::int8_t receive_counts = -1;
  std::int8_t receive_displs = -1;
  std::int8_t receive_types = -1;
  std::int8_t dest = -1;
  std::int8_t source = -1;
  std::int8_t message = -1;
  std::int8_t request = -1;
  std::int8_t requests = -1;  ///< how many requests there are; -1: one
  std::int8_t flag = -1;      ///< of tests: whether, or how many, are complete
  std::int8_t index = -1;     ///< which
  std::int8_t target = -1;    ///< of one-sided communication: whose memory, and which of it
  std::int8_t disp = -1;
  std::int8_t target_count = -1;  ///< -1: one
  std::int8_t target_type = -1;
  std::int8_t origin = -1;  ///< and the caller's own buffers
  std::int8_t origin_count = -1;
  std::int8_t origin_type = -1;
  std::int8_t result = -1;
  std::int8_t result_count = -1;
  std::int8_t result_type = -1;
};

struct Function {
  const char* name = "";
  std::uint8_t handle_count = 0;
  std::array<HandleUse, 6> handles = {};
  Places at = {};
  Traffic traffic = Traffic::kNone;
  Pattern pattern = Pattern::kNone;
  OneSided one_sided = OneSided::kNone;
  Ordering ordering = Ordering::kNone;
  Match match = Match::kNone;
  HandleKind on = HandleKind::kComm;       ///< what `at.members` is
  std::array<std::int8_t, 3> agreed = {};  ///< arguments, by `match`
  Half half = Half::kNone;
  bool settled = false;  ///< no operation on the file may be pending
  Lifetime lifetime = Lifetime::kBlocking;
  std::int8_t distribs =
      -1;               ///< argument of MPI_Type_create_darray; the next one are the distributions' arguments
  bool starts = false;  ///< MPI_Start, MPI_Startall
  bool large = false;   ///< arrays of counts are of MPI_Count
};

}  // namespace tmpi::check
