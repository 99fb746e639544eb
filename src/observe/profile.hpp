// Profile: the figures of a job that has been recorded, in seconds, per rank, call site and worker. Collected
// when the recording has stopped. docs/profiling.md says what each of them means.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mpi/remote/remote.hpp"
#include "observe/call_sites.hpp"
#include "observe/recording.hpp"

namespace tmpi::observe {

/// What the job is, for headings.
struct JobDescription {
  std::string program;  ///< names of the programs, joined
  std::string host;
  std::vector<std::string> workers;  ///< "worker 0: core 3 (PU 6), NUMA node 0"
  bool oversubscribed = false;       ///< workers share cores
  bool ended_early = false;          ///< aborted, crashed, timed out, interrupted
};

/// The calls of one function from one call site. What they took, of one rank or of all.
struct CallTimes {
  std::uint64_t calls = 0;
  std::int64_t bytes = 0;
  double wall = 0;
  double waiting = 0;       ///< part of wall: suspended
  double idle = 0;          ///< part of waiting: the core had nothing else to run until this call went on
  double longest = 0;       ///< wall of the longest call
  bool unfinished = false;  ///< the job ended inside one of them

  double running() const { return wall - waiting; }  ///< process-POV
};

struct ProfiledCall {
  std::uint16_t function = 0;
  std::size_t site = 0;  ///< in `sites`
  CallTimes total;       ///< of all ranks
  struct OfRank {
    int rank;
    CallTimes times;
  };
  std::vector<OfRank> ranks;  ///< those that made the call, by rank
};

struct ProfiledRank {
  int rank = 0;
  int worker = 0;
  double wall = 0;       ///< from its first instruction to its last, without pauses
  double computing = 0;  ///< ran outside MPI
  double mpi = 0;        ///< ran inside MPI
  double waiting = 0;    ///< suspended in MPI
  double elsewhere = 0;  ///< suspended outside recorded calls
};

struct ProfiledWorker {
  double busy = 0;
  double idle = 0;
  double computing = 0;  ///< parts of busy: its ranks outside MPI,
  double mpi = 0;        ///< and inside; the rest is the library's own work
  std::uint64_t switches = 0;
  std::vector<int> ranks;
};

/// What has left this node process for others, by protocol (mpi/remote/remote.hpp).
struct ProfiledNetwork {
  bool used = false;  ///< the job has several node processes
  std::string device;
  mpi::remote::ProtocolCounters protocols;
};

struct Profile {
  JobDescription job;
  ProfiledNetwork network;
  double seconds = 0;
  std::vector<ProfiledCall> calls;  ///< most wall time first
  std::vector<ProfiledRank> ranks;
  std::vector<ProfiledWorker> workers;
  std::uint64_t foreign_calls = 0;  ///< by threads that are no ranks: not in any other figure
};

/// `sites` receives the call sites. The recording has been stopped.
Profile collect_profile(const Recording& recording, const JobDescription& job, CallSites& sites);

/// The table for people.
std::string profile_text(const Profile& profile, const CallSites& sites);
/// Everything, for machines.
std::string profile_json(const Profile& profile, const CallSites& sites);

}  // namespace tmpi::observe
