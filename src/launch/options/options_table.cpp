// The table of options, in the order of the help text. How values are read: option_values.hpp.
#include <array>

#include "launch/options/choices.hpp"
#include "launch/options/compatibility.hpp"
#include "launch/options/option_values.hpp"
#include "launch/options/options.hpp"
#include "mpi/remote/rendezvous.hpp"
#include "net/transports.hpp"
#include "sched/balances.hpp"
#include "sched/file_ways.hpp"
#include "sched/policies.hpp"
#include "sched/progress.hpp"

namespace tmpi::launch {

namespace {

namespace values = option_values;

constexpr std::string_view kStart = "What runs where";
constexpr std::string_view kNetwork = "Node processes and the network between them";
constexpr std::string_view kRanks = "The ranks' surroundings";
constexpr std::string_view kOutput = "Output";
constexpr std::string_view kControl = "Control";

constexpr auto kTopics = std::to_array<Topic>({{"start", kStart},
                                               {"network", kNetwork},
                                               {"ranks", kRanks},
                                               {"output", kOutput},
                                               {"control", kControl}});

/// What shells offer for a value: the names, those that need more with what leads to it.
template <class Value, std::size_t N>
std::string words_of(const Choice<Value> (&table)[N], std::string_view more = "") {
  std::string words(more);
  for (const Choice<Value>& row : table) {
    words.append(words.empty() ? "" : " ").append(row.name);
    if (row.argument.starts_with(':')) words += ':';
  }
  return words;
}

// Not constexpr: some texts are made from the tables of choices.
const std::vector<Option>& table() {
  static const std::vector<Option> all = {
      {"-n", "-np -c", "TMPI_N", "N", kStart,
       "Number of ranks of the program (default 1; where Slurm or a PMIx server starts the node processes, "
       "as "
       "many as they have cores or tasks, times V).",
       values::set_ranks},
      {"--app", "-configfile", "", "FILE", kStart,
       "Read the programs from a file: on each line options, a program and its arguments, as between two "
       "':'; "
       "comments begin with #. Options in front of --app hold for all of them.",
       values::set_app_file},
      {"--vratio", "", "TMPI_VRATIO", "V", kStart,
       "Virtualization ratio: V ranks share a worker thread, so there are ceil(N/V) workers. Default: as "
       "many "
       "workers as there are "
       "cores this process may use, and V = ceil(N/cores).",
       values::set_vratio},
      {"--workers", "", "TMPI_WORKERS", "W", kStart,
       "Number of worker threads; V becomes ceil(N/W). More workers than cores is allowed: they share cores.",
       values::set_workers},
      {"--cpus-per-rank", "--cpus-per-task --cpus-per-proc", "TMPI_CPUS_PER_RANK", "K|auto", kStart,
       "Cores of each worker: its ranks run on one of them at a time, their threads (OpenMP, pthreads) on "
       "all "
       "K. "
       "Default: 1, or the tasks' in an allocation of Slurm. auto: as OMP_NUM_THREADS says. There are then "
       "cores/K workers, and OMP_NUM_THREADS is K "
       "unless it is set. Also --map-by UNIT:PE=K.",
       set_cpus_per_rank, "auto"},
      {"--bind-to", "", "TMPI_BIND_TO", list_choices(kBindings, "|", "|"), kStart,
       "Where workers run: " + describe_choices(kBindings) + ".", set_binding, words_of(kBindings)},
      {"--sched", "", "TMPI_SCHED", "POLICY", kStart,
       "Order in which the ready ranks of a worker run: " + describe_choices(sched::kPolicies) + ".",
       values::set_policy, words_of(sched::kPolicies)},
      {"--balance", "", "TMPI_BALANCE", "HOW", kStart,
       "How ranks move between the workers of a node process, so that all have the same to do: " +
           describe_choices(sched::kBalances) + ". Needs --sched fifo.",
       values::set_balance, words_of(sched::kBalances)},
      {"--file-io", "", "TMPI_FILE_IO", "WAY", kStart,
       "Who reads and writes files for MPI-IO while a core runs other ranks: " +
           describe_choices(sched::kFileWays) +
           ". With SIZE: whatever moves so many bytes or more, wherever the file lies and whoever else could "
           "run.",
       values::set_file_io, words_of(sched::kFileWays)},
      {"--sleep", "", "TMPI_SLEEP", list_choices(kSleeping, "|", "|"), kStart,
       "What other ranks do on the core of a rank that sleeps, or waits in the system for something that "
       "does "
       "not come by MPI (read, accept, waitpid and the like): " +
           describe_choices(kSleeping) + ".",
       values::set_sleep, words_of(kSleeping)},
      {"--preempt", "", "TMPI_PREEMPT", "MS", kStart,
       "Takes the core away from a rank that has run for so many milliseconds without coming to MPI or "
       "giving "
       "way, where others share the core and it is in its own code (default: never).",
       values::set_preempt},
      {"--migratable", "", "TMPI_MIGRATABLE", "", kStart,
       "Gives each rank addresses that are its own in all node processes, so that MPIX_Checkpoint can write "
       "it down and "
       "--restart revive it.",
       values::set_job_flag<&JobSpec::migratable>},
      {"--slot-size", "", "TMPI_SLOT_SIZE", "SIZE", kStart,
       "Addresses of each rank with --migratable: a power of two, with the suffix M or G (default 4G, or "
       "less where so many "
       "ranks have no room).",
       values::set_slot_size},
      {"--checkpoint", "", "TMPI_CHECKPOINT", "every=TIME,to=DIR,signal=NAME", kStart,
       "Write all ranks down so often (seconds, or 10min, 1h), for --restart, where they come together in "
       "MPI_Barrier, "
       "MPI_Bcast, MPI_Reduce or MPI_Allreduce; the program need not ask for it. Without every= when "
       "--checkpoint-now "
       "asks for it, or with signal=USR1 or signal=USR2 when tmpirun gets that.",
       values::set_checkpoint},
      {"--survive", "", "TMPI_SURVIVE", "N", kStart,
       "Let the ranks go on from the last checkpoint when a node process or its host is lost. Without a "
       "directory in "
       "--checkpoint (by default one every 60 seconds) it lies in the memory of the hosts, with a copy of "
       "each rank on "
       "N others.",
       values::set_survive},
      {"--spare-hosts", "", "TMPI_SPARE_HOSTS", "HOST[:SLOTS],...", kStart,
       "What takes the place of hosts that are lost, with --survive. Without spare ones the others take the "
       "ranks over.",
       values::set_spare_hosts},
      {"--restart", "", "TMPI_RESTART", "DIR", kStart,
       "Go on with what MPIX_Checkpoint has written down in this directory, in place of a program: the same "
       "ranks, on any "
       "number of nodes and workers.",
       values::set_restart},
      {"--stack-size", "", "TMPI_STACK_SIZE", "SIZE", kStart,
       "Stack of each rank: bytes, or with the suffix k, M or G (default 8M, or what ulimit -s says where "
       "that "
       "is more, 64M where it says unlimited; less under a limit on address space). Only touched pages cost "
       "memory.",
       values::set_stack_size},
      {"--coll", "", "TMPI_COLL", "LIST", kStart,
       "Algorithms of collectives: NAME=ALGORITHM[,NAME=ALGORITHM...], as in ALLREDUCE=ring,BCAST=binomial; "
       "'help' lists all, with their conditions. An algorithm that does not work for a call is passed over "
       "(-v says so). 'reproducible': reductions give the same bits for any number of workers and nodes.",
       values::set_coll, "help reproducible"},
      {"--nodes", "", "TMPI_NODES", "K", kNetwork,
       "Run the job as K node processes on this machine, which share its cores and reach each other over the "
       "network only (default 1).",
       values::set_nodes},
      {"--npernode", "-N -ppn -perhost", "TMPI_NPERNODE", "N", kNetwork,
       "Ranks of each node process: takes the place of the hosts' slots. Without -n the program gets N ranks "
       "on each.",
       values::set_per_node},
      {"--host", "-H -hosts", "TMPI_HOST", "HOST[:SLOTS],...", kNetwork,
       "Run the job on these machines, one node process on each, started through ssh. May be repeated. Slots "
       "weigh the hosts "
       "(default 1): with at most as many ranks as slots no host gets more ranks than slots, beyond that "
       "each "
       "gets its part in proportion.",
       values::set_host_list},
      {"--hostfile", "--machinefile --default-hostfile -f", "TMPI_HOSTFILE", "FILE", kNetwork,
       "The same from a file with a host per line, as \"HOST slots=N\" or \"HOST:N\"; comments begin with #.",
       values::set_host_file},
      {"--launch-agent", "", "TMPI_SSH", "COMMAND", kNetwork,
       "What starts node processes on other machines (default ssh), with arguments: \"ssh -p 2222\". A "
       "host's "
       "name and a command are appended, or take the place of {}.",
       values::set_launch_agent},
      {"--map-by", "", "TMPI_MAP_BY", list_choices(kMapBy, "|", "|"), kNetwork,
       "Which node process runs which rank: " + describe_choices(kMapBy) + ".", set_map_by, words_of(kMapBy)},
      {"--rankfile", "-rf", "TMPI_RANKFILE", "FILE", kNetwork,
       "Which host and core runs which rank, from a file with a line \"rank N=HOST slot=CORE\" for each; "
       "also "
       "slot=SOCKET:CORE, +nK for host number K, and without slots. Ranks of one core share a worker.",
       values::set_rankfile},
      {"--net", "", "TMPI_NET", "TRANSPORT", kNetwork,
       "Transport between node processes: " + describe_choices(net::kTransports) +
           ". Settings as in tcp:interface=eth0 or sim:fdr-ib; 'help' lists all.",
       values::set_net, words_of(net::kTransports, "help")},
      {"--eager-limit", "", "TMPI_EAGER_LIMIT", "SIZE|dynamic[:SECONDS]", kNetwork,
       "Messages between node processes up to this size are sent at once, larger ones ask first. Default: "
       "what suits the transport. 'dynamic': begins there, and each pair of nodes gets a limit above the "
       "mean "
       "of its larger messages while the program computes between nonblocking calls and their waits; what "
       "has "
       "not been used for so long (default 5 s) is released.",
       values::set_eager_limit, "dynamic"},
      {"--rndv", "", "TMPI_RNDV", "PROTOCOL", kNetwork,
       "How larger messages travel: " + describe_choices(mpi::remote::kRendezvousProtocols) +
           ". With verbs and ofi the default is read.",
       values::set_rendezvous, words_of(mpi::remote::kRendezvousProtocols)},
      {"--progress", "", "TMPI_PROGRESS", "MODE", kNetwork,
       "Who runs the protocols between node processes while every core computes: " +
           describe_choices(sched::kProgressModes) + ".",
       values::set_progress, words_of(sched::kProgressModes)},
      {"-x", "", "TMPI_EXPORT", "VAR[=VALUE]", kRanks,
       "Set an environment variable in the ranks of this program. May be repeated. Ranks inherit tmpirun's "
       "environment anyway.",
       values::add_export},
      {"--show-libraries", "", "", "", kRanks,
       "Run nothing: list the libraries that the program needs, which of them each rank has of its own and "
       "which all "
       "ranks of a node process share, why, and how many bytes of data a rank has of each.",
       values::set_task<Settings::Task::kLibraries>},
      {"--share-library", "", "TMPI_SHARE_LIBRARY", "NAME", kRanks,
       "Load this library (libfoo.so.3, libfoo.so or libfoo) once for all ranks of a node process. May be "
       "repeated. By "
       "default every library is a rank's own but libc's family and what --show-libraries names.",
       values::add_to<&JobSpec::shared_libraries>},
      {"--private-library", "", "TMPI_PRIVATE_LIBRARY", "NAME", kRanks,
       "Give each rank its own copy of the data of a library that is shared by default. May be repeated.",
       values::add_to<&JobSpec::private_libraries>},
      {"--pid", "", "TMPI_PID", list_choices(kPids, "|", "|"), kRanks,
       "What getpid() says in a rank: " + describe_choices(kPids) + ".", values::set_pid, words_of(kPids)},
      {"--wdir", "--wd", "TMPI_WDIR", "DIR", kRanks, "Start the ranks in this directory.", values::set_wdir},
      {"--wrapper", "", "TMPI_WRAPPER", "COMMAND", kRanks,
       "Start each node process, which runs all ranks of its machine, through this command: \"gdb --args\", "
       "\"perf "
       "record -g\", \"strace -f -o FILE\". The same in front of the program's name works for env, nice, "
       "taskset, "
       "numactl and the like.",
       values::set_wrapper},
      {"--stdin", "-s", "TMPI_STDIN", "RANK|all|none", kRanks,
       "Who reads tmpirun's standard input: one rank (default 0), each of them all of it, or nobody. The "
       "others "
       "read the end of the file.",
       values::set_input, "all none"},
      {"--tag-output", "", "TMPI_TAG_OUTPUT", "", kOutput,
       "Prefix every line with its origin, as in [1,RANK]<stdout>:text.", values::set_tags<Tags::kSource>},
      {"-l", "--prepend-rank", "TMPI_PREPEND_RANK", "", kOutput,
       "Prefix every line with its rank, as in [RANK] text.", values::set_tags<Tags::kRank>},
      {"--merge-stderr-to-stdout", "", "TMPI_MERGE_STDERR_TO_STDOUT", "", kOutput,
       "What ranks write to stderr goes to tmpirun's stdout.", values::set_merge_output},
      {"--output-filename", "", "TMPI_OUTPUT_FILENAME", "DIR", kOutput,
       "Write each rank's output to DIR/rank.N/stdout and DIR/rank.N/stderr instead of tmpirun's own.",
       values::set_output_directory},
      {"--report-bindings", "", "TMPI_REPORT_BINDINGS", "", kOutput,
       "Say on which core each worker runs and which ranks it has.",
       values::set_job_flag<&JobSpec::report_bindings>},
      {"--profile", "", "TMPI_PROFILE", "[=FILE]", kOutput,
       "At the end, print where the time went: ranks, cores, and the call sites of MPI. With FILE, write it "
       "in "
       "full "
       "as JSON.",
       values::set_profile},
      {"--report", "", "TMPI_REPORT", "FILE", kOutput,
       "At the end, write a page for the browser: what to do first, efficiencies, cores, ranks, call sites "
       "and "
       "messages.",
       values::set_report},
      {"--trace", "", "TMPI_TRACE", "FILE", kOutput,
       "Write a timeline of cores, ranks and messages, to be opened in ui.perfetto.dev or chrome://tracing; "
       "FILE.otf2: an "
       "OTF2 archive, for Vampir and Scalasca.",
       values::set_file<&JobSpec::trace_file>},
      {"--trace-buffer", "", "TMPI_TRACE_BUFFER", "SIZE", kOutput,
       "Memory for the newest events of each worker (default 16M, 64 bytes an event).",
       values::set_trace_buffer},
      {"-q", "--quiet", "TMPI_QUIET", "", kOutput, "No warnings. Errors are always reported.",
       values::set_job_flag<&JobSpec::quiet>},
      {"-v", "--verbose", "TMPI_VERBOSE", "", kOutput,
       "Report workers, V and stack size at the start, and stack use and switches at the end.",
       values::set_job_flag<&JobSpec::verbose>},
      {"--check", "", "TMPI_CHECK", "", kControl,
       "Find misuse of MPI while the program runs: freed or foreign handles, buffers of pending operations "
       "used again, "
       "collective calls that do not match between ranks. Requests, communicators and others that are not "
       "freed at "
       "the end are listed.",
       values::set_job_flag<&JobSpec::check>},
      {"--record", "", "TMPI_RECORD", "FILE", kControl,
       "Write down what the program does not determine: which messages wildcards took, which requests and "
       "tests were "
       "complete, times, and what it sees of the layout. Reductions are those of --coll reproducible.",
       values::set_file<&JobSpec::record_file>},
      {"--replay", "", "TMPI_REPLAY", "FILE", kControl,
       "Run again what --record has written down, on any number of workers and nodes: the program gets the "
       "same answers. "
       "A run that departs from it ends and says where.",
       values::set_file<&JobSpec::replay_file>},
      {"--explore", "", "TMPI_EXPLORE", "[=SECONDS]", kControl,
       "Run the program again and again, each time with other messages for its receives with wildcards, "
       "other answers of its tests, or sends that wait, until all have "
       "been tried, or for so long; one run at most for the seconds of --timeout, or 60. Reports each "
       "outcome that differs (deadlock, abort, exit code, output), "
       "with a file for "
       "--replay.",
       values::set_explore},
      {"--stacks", "", "", "", kControl,
       "Run nothing: show by which calls the ranks of a running job have come to where they are, as one tree "
       "with the ranks of each branch. The job is that of --job, or the only one of yours on this machine.",
       values::set_task<Settings::Task::kStacks>},
      {"--checkpoint-now", "", "", "", kControl,
       "Run nothing: have a running job, which was started with --checkpoint or --survive, write its ranks "
       "down, and "
       "wait until it has.",
       values::set_task<Settings::Task::kCheckpointNow>},
      {"--add-host", "", "", "HOST[:SLOTS],...", kControl,
       "Run nothing: have a running job write its ranks down, and let them go on on these hosts, too.",
       values::set_hosts_task<Settings::Task::kAddHosts>},
      {"--remove-host", "", "", "HOST,...", kControl,
       "Run nothing: have a running job write its ranks down, and let them go on without these hosts.",
       values::set_hosts_task<Settings::Task::kRemoveHosts>},
      {"--job", "", "", "JOB", kControl,
       "The running job that --stacks, --checkpoint-now, --add-host or --remove-host is about: the process "
       "id of its "
       "tmpirun.",
       values::set_job},
      {"--timeout", "", "TMPI_TIMEOUT", "SECONDS", kControl,
       "End the job after this time with exit code 124, after a state dump: where every rank is.",
       values::set_seconds<&Settings::timeout>},
      {"--start-timeout", "", "TMPI_START_TIMEOUT", "SECONDS", kControl,
       "How long other hosts have to start their node processes (default 60), a password typed in meanwhile "
       "included.",
       values::set_seconds<&Settings::start_timeout>},
      {"--other-jobs", "", "TMPI_OTHER_JOBS", "", kControl,
       "Be ready to be connected with other jobs, though the program itself does not refer to "
       "MPI_Comm_accept, "
       "MPI_Comm_connect or MPI_Comm_join: a library of it does (Python).",
       values::set_job_flag<&JobSpec::other_jobs>},
      {"--no-deadlock-check", "", "TMPI_NO_DEADLOCK_CHECK", "", kControl,
       "Leave a job blocked whose ranks all wait for each other. By default it ends by itself within a "
       "second, "
       "with "
       "exit code 125 and a report of who waits for whom.",
       values::set_no_deadlock_check},
      {"--polling-limit", "", "TMPI_POLLING_LIMIT", "SECONDS", kControl,
       "How long ranks may do nothing but test and probe in vain until a warning says so (default 10). After "
       "six times as long it is a deadlock.",
       values::set_polling_limit},
      {"--version", "-V", "", "", kControl, "Print tmpi's version and exit.",
       values::set_task<Settings::Task::kVersion>},
      {"--help", "-h", "", "[=TOPIC]", kControl,
       "Print this text, or of it what belongs to a topic, and exit. Topics are " +
           values::topic_names(", ") + ", and every option by its name.",
       values::set_help, values::topic_names(" ")},
      {"--explored", "", "", "FILE", "", "", values::set_explored},
      {"--print-options", "", "", "", "", "", values::set_task<Settings::Task::kOptions>},
      {"--print-markdown", "", "", "", "", "", values::set_task<Settings::Task::kMarkdown>},
  };
  return all;
}

}  // namespace

std::span<const Option> option_table() {
  return table();
}

std::span<const Topic> topic_table() {
  return kTopics;
}

}  // namespace tmpi::launch
