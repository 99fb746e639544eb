// JobSpec: what is to be run, as tmpirun's command line says it and as a node process receives it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace tmpi::launch {

/// One program of the job; several under MPMD (`tmpirun -n 2 a : -n 3 b`).
struct AppSpec {
  int ranks = 1;
  std::string program;                   ///< as typed; resolved to a path by tmpirun before it is sent
  std::vector<std::string> arguments;    ///< argv, argv[0] as typed
  std::vector<std::string> environment;  ///< -x: "NAME=value"
  std::string wdir;                      ///< --wdir, empty: tmpirun's own
};

/// An option of tmpirun as a tool may see it (MPI_T): all of them, given or not.
struct OptionValue {
  std::string name;   ///< "--vratio"
  std::string value;  ///< as it was given, a flag "1" or "0"; empty: it was not given
  std::string help;
};

/// Where a rank is to run on its machine, by hwloc's logical numbers.
struct RankCore {
  int socket = -1;  ///< -1: `core` is counted over all of them
  int core = -1;    ///< -1: any
  bool operator==(const RankCore&) const = default;
};

/// Whose standard input tmpirun's is, beside the number of a rank.
inline constexpr int kInputToNone = -1;
inline constexpr int kInputToAll = -2;

/// Without --stack-size: what a process has by default, and what will do under a limit on address space; and the largest
/// that can be asked for.
inline constexpr std::size_t kDefaultStack = 8 << 20;
inline constexpr std::size_t kLeastDefaultStack = 1 << 20;
inline constexpr std::size_t kMostStack = std::size_t{4} << 30;

/// --cpus-per-rank auto: as many as OMP_NUM_THREADS says.
inline constexpr int kByThreads = -1;

struct JobSpec {
  std::vector<AppSpec> apps;
  int vratio = 0;                             ///< --vratio, 0: not given
  int workers = 0;                            ///< --workers, 0: not given
  int cpus_per_rank = 0;                      ///< --cpus-per-rank, 0: not given, or kByThreads
  std::size_t stack_size = 0;                 ///< --stack-size, 0: not given
  std::size_t default_stack = kDefaultStack;  ///< then: as tmpirun's limit on stacks says (stack_limit.hpp)
  std::vector<RankCore> cores;                ///< --rankfile, by rank; empty: any
  bool bind = true;
  bool report_bindings = false;
  std::string policy = "fifo";
  std::string balance = "none";    ///< --balance
  std::string file_io = "auto";    ///< --file-io, without :SIZE
  std::int64_t file_limit = -1;    ///< --file-io WAY:SIZE
  std::string sleep = "auto";      ///< --sleep
  int input_rank = 0;              ///< --stdin: a rank, kInputToNone or kInputToAll
  bool rank_pids = true;           ///< --pid rank
  int preempt = 0;                 ///< --preempt, milliseconds; 0: not given
  std::string coll;                ///< --coll, empty: not given
  std::string net = "auto";        ///< --net
  std::int64_t eager_limit = -1;   ///< --eager-limit, bytes; -1: not given
  std::int64_t eager_release = 0;  ///< --eager-limit dynamic, milliseconds; 0: limits do not change
  std::string rendezvous;          ///< --rndv, empty: what suits the transport
  std::string progress = "auto";   ///< --progress, without :N
  int progress_cores = 1;          ///< --progress core:N
  bool other_jobs = false;         ///< --other-jobs
  bool deadlock_check = true;
  int polling_limit = 10;  ///< --polling-limit, seconds
  bool quiet = false;
  bool verbose = false;
  bool check = false;          ///< --check
  bool profile = false;        ///< node processes record one: --profile or --report
  bool profile_table = false;  ///< --profile; this and the two files are tmpirun's own affair
  std::string profile_file;    ///< --profile=FILE, empty: only the table
  std::string report_file;     ///< --report, empty: none
  std::string trace_file;      ///< --trace, empty: none
  std::size_t trace_buffer = 16 << 20;
  std::string record_file;     ///< --record, empty: none
  std::string replay_file;     ///< --replay, empty: none
  std::string explored_file;   ///< of a run that --explore makes: its explored logs, empty: none
  bool migratable = false;     ///< --migratable: ranks have addresses of their own, and can be saved
  std::size_t slot_bytes = 0;  ///< --slot-size, 0: not given
  std::uint64_t stack_guard = 0,
                pointer_guard = 0;  ///< then the same in all node processes (node/migration.hpp)
  bool checkpoints = false;        ///< --checkpoint or --survive: also where the program does not ask for one
  int checkpoint_every = 0;        ///< milliseconds between two, 0: only when somebody asks
  std::string checkpoint_to;       ///< the directory; empty: in the memory of the hosts
  int survive = -1;                ///< --survive: on so many other node processes, too; -1: not given
  std::uint64_t memory_store = 0;  ///< the part of that memory (memory_store.hpp), 0: none
  bool from_memory = false;        ///< ranks are revived from there
  std::uint64_t checkpoint = 0;    ///< --restart: number of the one that it goes on with
  std::string restart;             ///< --restart: the folder that ranks are revived from, empty: none
  std::vector<std::string> shared_libraries;   ///< --share-library
  std::vector<std::string> private_libraries;  ///< --private-library
  std::vector<OptionValue> options;

  /// The node process writes reports when the job ends.
  bool observed() const { return profile || !trace_file.empty(); }
  /// Ranks do not begin, they go on.
  bool revived() const { return from_memory || !restart.empty(); }

  int total_ranks() const;
  /// Index in apps of the program that world rank `rank` runs.
  int app_of(int rank) const;
};

/// The description as the payload of a kJob frame, and back.
std::string pack(const JobSpec& job);
Result<JobSpec> unpack_job(std::string_view payload);

}  // namespace tmpi::launch
