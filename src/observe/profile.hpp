// Profile: the figures of a job that has been recorded, in seconds, per rank, call site and worker: of one
// node process (collect_profile) or of a whole job (merge_profiles). docs/reference/profiling.md says what each of them
// means. Plain data: nothing here needs the MPI library or the scheduler, so that tmpirun can put parts
// together and print.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "mpi/remote/protocol_counters.hpp"
#include "observe/call_site.hpp"

namespace tmpi::observe {

/// The calls of one function from one call site. What they took, of one rank or of all.
struct CallTimes {
  std::uint64_t calls = 0;
  std::int64_t bytes = 0;
  double wall = 0;
  double waiting = 0;       ///< part of wall: suspended
  double idle = 0;          ///< part of waiting: the core had nothing else to run until this call went on
  double longest = 0;       ///< wall of the longest call
  double shortest = 0;      ///< and of the shortest that has ended; 0: none has
  double least = 0;         ///< of those that have ended, what the one has run that ran least; 0: none has
  bool unfinished = false;  ///< the job ended inside one of them

  double running() const { return wall - waiting; }  ///< process-POV
  void add(const CallTimes& times);
};

struct ProfiledCall {
  std::string function;  ///< "MPI_Send"
  CallSite site;
  CallTimes total;  ///< of all ranks
  struct OfRank {
    int rank;
    CallTimes times;
  };
  std::vector<OfRank> ranks;  ///< those that made the call, by rank
};

/// Performance variables by the names that the tools interface has for them (docs/reference/tools-interface.md): numbers, or
/// seconds.
using ProfiledVariables = std::map<std::string, std::variant<std::uint64_t, double>>;

/// Messages and bytes, by something.
struct ProfiledMessages {
  std::vector<std::uint64_t> messages;
  std::vector<std::uint64_t> bytes;
};

/// What a rank has sent to whom, messages of collectives included.
struct ProfiledTraffic {
  std::vector<int> peers;  ///< ranks in MPI_COMM_WORLD, in ascending order
  ProfiledMessages sent;   ///< by peer
  std::uint64_t other_messages = 0,
                other_bytes = 0;  ///< to further ones, which were too many to be told apart
};

struct ProfiledRank {
  int rank = 0;
  int worker = 0;        ///< index in Profile::workers
  double wall = 0;       ///< from its first instruction to its last, without pauses
  double computing = 0;  ///< ran outside MPI
  double mpi = 0;        ///< ran inside MPI
  double waiting = 0;    ///< suspended in MPI
  double elsewhere = 0;  ///< suspended outside recorded calls
  double between = 0;    ///< outside of MPI between nonblocking initiations and the waits that followed
  ProfiledVariables variables;
  ProfiledTraffic traffic;
};

/// A worker's computing and running in MPI over the time of the job, in bins of equal width.
struct ProfiledBins {
  double width = 0;  ///< seconds; 0: not recorded
  std::vector<double> computing, mpi;
};

struct ProfiledWorker {
  std::string name;  ///< "worker 0: core 3 (PU 6)", of several node processes "node 1 worker 0: ..."
  double busy = 0;
  double idle = 0;
  double computing = 0;  ///< parts of busy: its ranks outside MPI,
  double mpi = 0;        ///< and inside; the rest is the library's own work
  double held = 0;       ///< ready ranks have waited for one that slept (--sleep hold)
  std::uint64_t switches = 0;
  std::vector<int> ranks;
  ProfiledVariables variables;
  ProfiledBins over_time;
};

/// Blocking collectives that have run by one algorithm; sums of all ranks.
struct ProfiledAlgorithm {
  std::string collective;  ///< "ALLREDUCE", as for --coll
  std::string algorithm;
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  double wall = 0;
};

/// A node process.
struct ProfiledProcess {
  int node = 0;
  ProfiledVariables variables;
  /// Sizes of the messages that its ranks have sent, by the way they took ("direct", "network_eager"): element i counts
  /// those from 2^(i-1) to less than 2^i bytes, element 0 those without any.
  std::map<std::string, ProfiledMessages> sizes;
  std::vector<ProfiledAlgorithm> algorithms;
};

/// What has left node processes for others, by protocol (docs/design/network.md).
struct ProfiledNetwork {
  std::string device;  ///< empty: the job has one node process
  double wake_up =
      0;  ///< seconds that it costs who computes if a progress thread is woken on the core; 0: not measured
  mpi::remote::ProtocolCounters protocols;

  bool used() const { return !device.empty(); }
};

struct Profile {
  int node = 0;                    ///< number of the node process; of a whole job the first one's
  std::string program;             ///< names of the programs, joined
  std::vector<std::string> hosts;  ///< of the node processes
  int cores_per_worker = 1;        ///< --cpus-per-rank
  bool oversubscribed = false;     ///< workers share cores
  bool ended_early = false;        ///< aborted, crashed, timed out, interrupted
  bool line_numbers = true;        ///< they could be looked up
  double seconds = 0;
  std::vector<ProfiledCall> calls;  ///< most wall time first
  std::vector<ProfiledRank> ranks;  ///< by rank
  std::vector<ProfiledWorker> workers;
  std::vector<ProfiledProcess> processes;
  ProfiledNetwork network;
  std::uint64_t foreign_calls = 0;  ///< by threads that are no ranks: not in any other figure
};

/// The parts of a job as one; at least one part. A call site is the same on all hosts if the names of its
/// object file, without directory, are.
Profile merge_profiles(std::vector<Profile> parts);
/// Most wall time first.
void sort_calls(Profile& profile);

/// The table for people.
std::string profile_text(const Profile& profile);
/// Everything, for machines.
std::string profile_json(const Profile& profile);

/// What profile_json() has written. Failure sentences: no JSON, no profile, one of an older version.
Result<Profile> parse_profile(std::string_view text);

/// From a node process to tmpirun: profile_json's document as CBOR, and back.
std::string pack_profile(const Profile& profile);
Result<Profile> unpack_profile(std::string_view bytes);

}  // namespace tmpi::observe
