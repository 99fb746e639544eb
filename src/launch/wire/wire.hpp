// The control channel between tmpirun and a node process: framed messages over any byte stream (a socket pair
// on this machine, ssh's standard streams between machines), and the link between the tmpiruns of two jobs. This file holds every structure that crosses it:
// fixed width, little-endian, versioned. A reader refuses a frame whose length or type makes no sense, so a
// foreign byte stream ends in an error and never in a wild allocation.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace tmpi::launch {

static_assert(std::endian::native == std::endian::little, "the wire is little-endian and read in place");

inline constexpr std::uint32_t kWireMagic = 0x49504d54;  // "TMPI"
/// Raised when any structure below changes, or what a frame means.
inline constexpr std::uint32_t kWireVersion = 17;
inline constexpr std::uint32_t kMaxPayload =
    16u << 20;  // a job description with a long command line fits many times
inline constexpr std::uint32_t kMaxOutputPayload = 32u << 10;   // output is cut into frames of this size
inline constexpr std::uint32_t kMaxReportPayload = 256u << 10;  // and a profile or a trace into these

/// Over a remote shell the frames begin behind this line: the user's start-up files may have printed
/// something.
inline constexpr char kPreamble[] = "tmpi-node speaks\n";
inline constexpr std::uint32_t kMostNoise = 64u << 10;  // before it

/// Exit code of a node process that cannot speak with tmpirun any more.
inline constexpr int kExitLostChannel = 76;  // EX_PROTOCOL of sysexits.h

enum class FrameType : std::uint16_t {
  // node process -> tmpirun
  kHello = 1,        // HelloRecord and texts (hello.hpp): the first frame
  kNotice = 2,       // text; detail: NoticeKind
  kOutput = 3,       // rank's bytes; detail: 1 stdout, 2 stderr
  kExits = 4,        // ExitRecord[]: ranks that have ended by themselves
  kStdinWanted = 5,  // the rank waits for input
  kStateDump =
      6,     // StateDumpRecord and a name, repeated: where every rank is; detail 1: the signal was for a rank
  kEnd = 7,  // EndRecord and a sentence: the job ends before its ranks do; detail: EndKind
  kDone = 8,               // BalanceRecord: every rank of this node process has ended; the last frame
  kAddress = 9,            // where the others reach this node process (text); rank: its workers, at most
  kLost = 10,              // rank: number of a node process that does not answer any more; a sentence
  kUsesMpi = 11,           // the first rank of this node process has called MPI_Init
  kQuiescent = 12,         // BalanceRecord: all its ranks are blocked in MPI, for a while
  kQuiescenceAnswer = 13,  // answer to kStillQuiescent; detail 1: yes, ever since; BalanceRecord
  kWaitForEdges = 14,      // answer to kWaitForEdgesWanted (wait_for_edges.hpp)
  kProfile = 15,           // bytes of its profile (profile_report.hpp), in order
  kSpawn = 16,       // a rank wants others to be started: SpawnRequest (world_spec.hpp); rank: that rank
  kWorldReady = 17,  // answer to kWorld: WorldReady
  kPortCall = 18,    // a rank asks about ports or names: PortRequest (port_wire.hpp); rank: that rank
  // Connections with other jobs (job_link.hpp):
  kWayPrepared = 19,  // answer to kWayPrepare: WayAnswer
  kWayJoined = 20,    // answer to kWayJoin: WayAnswer
  kWayLost = 21,      // a node process of another job does not answer any more: WayAnswer
  kStacks = 22,       // stacks of the ranks (stacks.hpp): before the answer to kStateDumpWanted
  kFigures = 23,      // NodeFigures (figures.hpp): the same, where these were wanted
  kTrace = 24,        // bytes of its trace (trace_report.hpp), in order
  kCheckpoint =
      25,  // of the job; detail: begun or complete: CheckpointNews (checkpoint_news.hpp); failed: why
  // tmpirun -> node process
  kJob = 64,                 // the job description (job_spec.hpp)
  kStdin = 65,               // input for the ranks that read it; empty: end of file
  kSignal = 66,              // detail: signal number
  kStateDumpWanted = 67,     // answered by one kStateDump; detail: see below
  kAddresses = 68,           // of all node processes, by number: address and host each; the workers of all
  kEndNow = 69,              // the job has ended elsewhere: send the end report and end
  kStillQuiescent = 70,      // has nothing moved since it said kQuiescent?
  kWaitForEdgesWanted = 71,  // all are, for good: who waits for whom?
  kHeartbeat = 73,           // to other machines, every second; detail 1: no more until the next one
  kWorld = 74,               // a world is to be made ready: WorldSpec
  kWorldStart = 75,          // all have: WorldStart, let it run, or not
  kPortReply = 76,           // answer to kPortCall: PortReply; there may be two of them
  kWayPrepare = 77,          // make the transport to another job: WayOrder; answered
  kWayJoin = 78,             // where all its nodes are reached: WayAddresses; answered
  kWayEnd = 79,              // the other job has ended: WayEnding
  kExplain = 72,             // what all have answered to that: to be worded, and the job to be ended
  kCheckpointNow = 80,       // at the ranks' next moment; answered by kCheckpoint, sooner or later
  // tmpirun <-> the tmpirun of another job
  kLinkHello = 128,      // LinkHello; what is wrong with it is a kLinkRefused
  kLinkKey = 129,        // from whom has been called: the key of the connections between the two jobs
  kLinkAddresses = 130,  // WayAddresses of its node processes
  kLinkReady = 131,      // all its node processes have joined
  kLinkRefused = 132,    // there will be no connection: a sentence; detail 1: the other one's call is as good
  kLinkCall = 133,       // LinkCall: a rank there asks about ports
  kLinkReply = 134,      // PortReply; its rank and peer are the numbers that its job has for them
  kLinkBye = 135,        // the job has ended; detail 1: not by itself, and a sentence
  kLinkVerdict = 136,    // LinkVerdict: what a call has brought is taken; detail 1: it is not wanted any more
  // whoever asks a running job -> its tmpirun (job_door.hpp)
  kDoorStacks = 160,       // where are all ranks, and how have they got there?
  kDoorFigures = 161,      // what do cores and ranks do?
  kDoorCheckpoint = 162,   // write the ranks down
  kDoorAddHosts = 163,     // the same, and let them go on on these hosts as well: a list
  kDoorRemoveHosts = 164,  // the same, without these
  // tmpirun -> whoever asks
  kDoorAnswer = 176,  // text; JobFigures; or kDoorRefused, and why
};

/// Its payload must not stay in memory.
constexpr bool has_secret(FrameType type) noexcept {
  return type == FrameType::kJob || type == FrameType::kWayPrepare || type == FrameType::kLinkKey;
}

inline constexpr std::uint16_t kDoorRefused = 1;
inline constexpr std::uint16_t kCheckpointBegun = 0, kCheckpointComplete = 1, kCheckpointFailed = 2;

/// Details of kStateDumpWanted: the job is killed after it; figures are wanted, and no stacks; signal N is for the ranks if one handles it, and then nobody
/// wants a state dump (kStateDumpUnlessHandled + N).
inline constexpr std::uint16_t kStateDumpThenKill = 1;
inline constexpr std::uint16_t kStateDumpFigures = 2;
inline constexpr std::uint16_t kStateDumpUnlessHandled = 256;

enum class NoticeKind : std::uint16_t {
  kInfo = 0,
  kWarning = 1,
  kHeldCores = 2,      // a warning that several node processes may have, for several reasons: said once
  kPollingInVain = 3,  // another such
  kRunsOn = 4,         // another such
};

enum class EndKind : std::uint16_t {
  kStartFailed = 0,  // the job never ran
  kAborted = 1,      // MPI_Abort, abort(), an error whose handler is MPI_ERRORS_ARE_FATAL
  kCrashed = 2,      // a fatal signal in a rank
  kBadExit = 3,      // a rank left in a way that breaks the job
  kSignalled = 4,    // ended by a signal that was sent to tmpirun
  kDeadlock = 5,     // every rank waits for another one
  kOrdered = 6,      // tmpirun said so (kEndNow)
};

/// Stands before every payload.
struct FrameHeader {
  std::uint32_t length;  ///< bytes of payload that follow
  FrameType type;
  std::uint16_t detail;  ///< meaning depends on the type
  std::int32_t rank;     ///< world rank concerned, -1: none
};
static_assert(sizeof(FrameHeader) == 12 && alignof(FrameHeader) == 4);
static_assert(offsetof(FrameHeader, type) == 4 && offsetof(FrameHeader, detail) == 6 &&
              offsetof(FrameHeader, rank) == 8);

struct HelloRecord {
  std::uint32_t magic;
  std::uint32_t version;
  std::int32_t pid;
};
static_assert(sizeof(HelloRecord) == 12);

struct ExitRecord {
  std::int32_t rank;
  std::int32_t code;
  std::int32_t used_mpi;  ///< 0: the rank has never called MPI_Init
};
static_assert(sizeof(ExitRecord) == 12);

struct EndRecord {
  std::int32_t code;  ///< exit code for tmpirun
};
static_assert(sizeof(EndRecord) == 4);

/// Messages between node processes that a node process has sent and received since the start.
struct BalanceRecord {
  std::uint64_t sent;
  std::uint64_t received;
};
static_assert(sizeof(BalanceRecord) == 16);

/// `count` ranks from `first` on are in the same place; `call_length` and `detail_length` bytes follow, both
/// may be 0 (StateDumpEntry in state_dump.hpp).
struct StateDumpRecord {
  std::int32_t first;
  std::int32_t count;
  std::int32_t peer;     ///< of the first rank, -1: none
  std::uint16_t state;   ///< RankState of state_dump.hpp
  std::uint16_t follow;  ///< 1: the peer of the next rank is the next one
  std::uint16_t call_length;
  std::uint16_t detail_length;
};
static_assert(sizeof(StateDumpRecord) == 20);

}  // namespace tmpi::launch
