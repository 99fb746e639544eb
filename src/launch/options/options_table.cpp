// The table itself, and how each value is read.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "launch/options/choices.hpp"
#include "launch/options/compatibility.hpp"
#include "launch/options/options.hpp"
#include "launch/system/words.hpp"
#include "mpi/base/placement.hpp"
#include "mpi/remote/rendezvous.hpp"
#include "net/transports.hpp"
#include "sched/balances.hpp"
#include "sched/file_ways.hpp"
#include "sched/policies.hpp"
#include "sched/progress.hpp"

namespace tmpi::launch {

namespace {

constexpr std::size_t kLeastStack = 32 << 10;
constexpr std::size_t kLeastTraceBuffer = 1 << 10;
constexpr long kMostRanks = mpi::Placement::kMostBegun;

template <class Value, std::size_t N>
std::string accepted(const Choice<Value> (&table)[N]) {
  return "accepted are " + list_choices(table, ", ", " and ", "'");
}

std::string set_int(int& field, std::string_view value, long least, long most) {
  const Result<long> number = parse_number(value, least, most);
  if (!number) return number.message();
  field = static_cast<int>(*number);
  return {};
}

std::string set_ranks(OptionTarget target, std::string_view value) {
  return set_int(target.app.ranks, value, 1, kMostRanks);
}
std::string set_vratio(OptionTarget target, std::string_view value) {
  return set_int(target.settings.job.vratio, value, 1, kMostRanks);
}
std::string set_workers(OptionTarget target, std::string_view value) {
  return set_int(target.settings.job.workers, value, 1, 4096);
}

std::string set_nodes(OptionTarget target, std::string_view value) {
  return set_int(target.settings.nodes, value, 1, 4096);
}

std::string set_per_node(OptionTarget target, std::string_view value) {
  return set_int(target.settings.per_node, value, 1, kMostRanks);
}

std::string set_hosts(Settings& settings, std::string_view option, Result<std::vector<HostSlots>> hosts) {
  if (!hosts) return hosts.message();
  if (!settings.hosts_from.empty() && settings.hosts_from != option)
    return fmt::format("{} is given as well; give one of the two", settings.hosts_from);
  settings.hosts = *std::move(hosts);
  settings.hosts_from = option;
  return {};
}

std::string set_host_list(OptionTarget target, std::string_view value) {
  // What is said again comes to what was said before.
  std::string& all = target.settings.host_list;
  all += (all.empty() ? "" : ",") + std::string(value);
  return set_hosts(target.settings, "--host", parse_host_list(all));
}

std::string set_host_file(OptionTarget target, std::string_view value) {
  return set_hosts(target.settings, "--hostfile", read_host_file(std::string(value)));
}

std::string set_launch_agent(OptionTarget target, std::string_view value) {
  target.settings.launch_agent = value;
  return value.empty() ? "expected a command, as in \"ssh -p 2222\"" : "";
}

// The settings are checked by the node process, which has the transports.
std::string set_net(OptionTarget target, std::string_view value) {
  target.settings.job.net = value;
  if (value == "help") {
    target.settings.task = Settings::Task::kTransports;
    return {};
  }
  const Result<net::TransportChoice> chosen = net::parse_transport(value);
  return chosen ? "" : chosen.message();
}

std::string set_eager_limit(OptionTarget target, std::string_view value) {
  constexpr double kRelease = 5, kMostRelease = 1e6;  // seconds
  std::int64_t& limit = target.settings.job.eager_limit;
  std::int64_t& release = target.settings.job.eager_release;
  release = 0;
  if (value == "0") {
    limit = 0;
    return {};
  }
  if (const std::size_t colon = value.find(':'); value.substr(0, colon) == "dynamic") {
    double seconds = kRelease;
    if (colon != std::string_view::npos) {
      const std::string_view text = value.substr(colon + 1);
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
      if (error != std::errc() || end != text.data() + text.size() ||
          !(seconds >= 0.001 && seconds <= kMostRelease))
        return "dynamic: expected seconds, from 0.001 to 1000000, after which buffers that nobody uses are "
               "released";
    }
    limit = -1;
    release = static_cast<std::int64_t>(seconds * 1000);
    return {};
  }
  const Result<std::size_t> size = parse_size(value);
  if (!size) return size.message() + "; or 'dynamic'";
  limit = static_cast<std::int64_t>(*size);
  return {};
}

std::string set_rendezvous(OptionTarget target, std::string_view value) {
  if (find_choice(mpi::remote::kRendezvousProtocols, value) == nullptr)
    return accepted(mpi::remote::kRendezvousProtocols);
  target.settings.job.rendezvous = value;
  return {};
}

std::string set_stack_size(OptionTarget target, std::string_view value) {
  const Result<std::size_t> size = parse_size(value);
  if (!size) return size.message();
  if (*size < kLeastStack) return "a rank needs a stack of at least 32k";
  if (*size > kMostStack) return "the largest stack is 4G";
  target.settings.job.stack_size = *size;
  return {};
}

std::string set_policy(OptionTarget target, std::string_view value) {
  if (const Result<sched::PolicyChoice> known = sched::parse_policy(value); !known) return known.message();
  target.settings.job.policy = value;
  return {};
}

std::string set_progress(OptionTarget target, std::string_view value) {
  const auto chosen = choose(sched::kProgressModes, value);
  const bool core = chosen.choice != nullptr && chosen.choice->value == sched::Progress::kCore;
  if (chosen.choice == nullptr || (!core && value.find(':') != std::string_view::npos))
    return accepted(sched::kProgressModes);
  target.settings.job.progress = chosen.choice->name;
  target.settings.job.progress_cores = 1;
  if (value.find(':') == std::string_view::npos) return {};
  return set_int(target.settings.job.progress_cores, chosen.argument, 1, 1024);
}

std::string set_balance(OptionTarget target, std::string_view value) {
  if (const Result<sched::BalanceChoice> known = sched::parse_balance(value); !known) return known.message();
  target.settings.job.balance = value;
  return {};
}

std::string set_file_io(OptionTarget target, std::string_view value) {
  const auto chosen = choose(sched::kFileWays, value);
  const bool sized = value.find(':') != std::string_view::npos;
  if (chosen.choice == nullptr || (sized && chosen.choice->argument.empty()))
    return accepted(sched::kFileWays);
  target.settings.job.file_io = chosen.choice->name;
  target.settings.job.file_limit = -1;
  if (!sized) return {};
  const Result<std::size_t> size = parse_size(chosen.argument);
  if (!size) return size.message();
  target.settings.job.file_limit = static_cast<std::int64_t>(*size);
  return {};
}

std::string set_sleep(OptionTarget target, std::string_view value) {
  const Choice<Sleeping>* chosen = find_choice(kSleeping, value);
  if (chosen == nullptr) return accepted(kSleeping);
  target.settings.job.sleep = chosen->name;
  return {};
}

std::string set_pid(OptionTarget target, std::string_view value) {
  const Choice<Pids>* chosen = find_choice(kPids, value);
  if (chosen == nullptr) return accepted(kPids);
  target.settings.job.rank_pids = chosen->value == Pids::kRank;
  return {};
}

// Which names there are is known to the node process, which has the table of algorithms.
std::string set_coll(OptionTarget target, std::string_view value) {
  if (value == "help") {
    target.settings.task = Settings::Task::kCollectives;
  } else if (value.find('=') == std::string_view::npos && value != "reproducible") {
    return "expected NAME=ALGORITHM[,NAME=ALGORITHM...], as in ALLREDUCE=ring, or reproducible; `--coll "
           "help` "
           "lists them";
  }
  target.settings.job.coll = value;
  return {};
}

std::string add_export(OptionTarget target, std::string_view value) {
  const std::size_t equals = value.find('=');
  const std::string name(value.substr(0, equals));
  if (name.empty()) return "expected VAR or VAR=VALUE";
  if (equals != std::string_view::npos) {
    target.app.environment.emplace_back(value);
  } else if (const char* inherited = std::getenv(name.c_str())) {
    target.app.environment.push_back(name + "=" + inherited);
  } else {
    target.settings.warnings.push_back(
        fmt::format("{} {}: the variable is not set in tmpirun's environment, and not in the ranks' either; "
                    "set it, or pass -x {}=VALUE",
                    target.spelling, name, name));
  }
  return {};
}

std::string set_input(OptionTarget target, std::string_view value) {
  int& reader = target.settings.job.input_rank;
  if (value == "all" || value == "none") {
    reader = value == "all" ? kInputToAll : kInputToNone;
    return {};
  }
  const Result<long> rank = parse_number(value, 0, kMostRanks - 1);
  if (!rank) return "expected the number of a rank, 'all' or 'none'";
  reader = static_cast<int>(*rank);
  return {};
}

std::string set_rankfile(OptionTarget target, std::string_view value) {
  Result<std::vector<ChosenPlace>> places = read_rankfile(std::string(value));
  if (!places) return places.message();
  target.settings.places = *std::move(places);
  return {};
}

std::string set_app_file(OptionTarget target, std::string_view value) {
  target.settings.app_file = value;
  return value.empty() ? "expected a file" : "";
}

template <std::vector<std::string> JobSpec::*Field>
std::string add_to(OptionTarget target, std::string_view value) {
  (target.settings.job.*Field).emplace_back(value);
  return value.empty() || value.find('/') != std::string_view::npos
             ? "expected a library's name, as in libfoo.so.3"
             : "";
}

std::string set_wdir(OptionTarget target, std::string_view value) {
  target.app.wdir = value;
  return value.empty() ? "expected a directory" : "";
}

std::string set_wrapper(OptionTarget target, std::string_view value) {
  target.settings.wrapper = split_words(value);
  return target.settings.wrapper.empty() ? "expected a command, as in \"numactl --interleave=all\"" : "";
}

std::string set_output_directory(OptionTarget target, std::string_view value) {
  target.settings.output_directory = value;
  return value.empty() ? "expected a directory" : "";
}

template <double Settings::*kMember>
std::string set_seconds(OptionTarget target, std::string_view value) {
  const std::string text(value);
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(seconds > 0 && seconds <= 1e9))
    return "expected a number of seconds greater than 0";
  target.settings.*kMember = seconds;
  return {};
}

// As seen from here: the node process may be started elsewhere.
std::string absolute(std::string_view path) {
  std::error_code failed;
  const std::filesystem::path whole = std::filesystem::absolute(path, failed);
  return failed ? std::string(path) : whole.string();
}

std::string set_profile(OptionTarget target, std::string_view value) {
  JobSpec& job = target.settings.job;
  job.profile_table = value != "0";
  job.profile = job.profile_table || !job.report_file.empty();
  job.profile_file = value.empty() || value == "0" || value == "1" ? std::string() : absolute(value);
  return {};
}

std::string set_report(OptionTarget target, std::string_view value) {
  if (value.empty()) return "expected a file";
  target.settings.job.report_file = absolute(value);
  target.settings.job.profile = true;
  return {};
}

template <std::string JobSpec::*Field>
std::string set_file(OptionTarget target, std::string_view value) {
  target.settings.job.*Field = absolute(value);
  return value.empty() ? "expected a file" : "";
}

std::string set_explore(OptionTarget target, std::string_view value) {
  if (!target.settings.job.explored_file.empty()) return {};  // for the tmpirun that has started this one
  target.settings.task = Settings::Task::kExplore;
  if (value.empty()) return {};
  return set_seconds<&Settings::explore_seconds>(target, value);
}

/// One run of those that --explore makes.
std::string set_explored(OptionTarget target, std::string_view value) {
  target.settings.task = Settings::Task::kRun;
  return set_file<&JobSpec::explored_file>(target, value);
}

std::string set_trace_buffer(OptionTarget target, std::string_view value) {
  const Result<std::size_t> size = parse_size(value);
  if (!size) return size.message();
  if (*size < kLeastTraceBuffer) return "a worker needs a buffer of at least 1k";
  target.settings.job.trace_buffer = *size;
  return {};
}

template <bool JobSpec::*Field>
std::string set_job_flag(OptionTarget target, std::string_view value) {
  target.settings.job.*Field = value == "1";
  return {};
}

std::string set_job(OptionTarget target, std::string_view value) {
  const std::string wrong = set_int(target.settings.asked_job, value, 1, 1L << 30);
  return wrong.empty() ? "" : wrong + ": the process id of the job's tmpirun";
}

std::string set_no_deadlock_check(OptionTarget target, std::string_view value) {
  target.settings.job.deadlock_check = value != "1";
  return {};
}

std::string set_polling_limit(OptionTarget target, std::string_view value) {
  const Result<long> seconds = parse_number(value, 1, 100'000);
  if (!seconds) return seconds.message();
  target.settings.job.polling_limit = static_cast<int>(*seconds);
  return {};
}

std::string set_preempt(OptionTarget target, std::string_view value) {
  const Result<long> milliseconds = parse_number(value, 1, 100'000);
  if (!milliseconds) return milliseconds.message();
  target.settings.job.preempt = static_cast<int>(*milliseconds);
  return {};
}

template <Tags Kind>
std::string set_tags(OptionTarget target, std::string_view value) {
  target.settings.tags = value == "1" ? Kind : Tags::kNone;
  return {};
}

std::string set_merge_output(OptionTarget target, std::string_view value) {
  target.settings.merge_output = value == "1";
  return {};
}

std::string topic_names(std::string_view between) {
  std::string names;
  for (const Topic& topic : topic_table()) names.append(names.empty() ? "" : between).append(topic.name);
  return names;
}

std::string set_help(OptionTarget target, std::string_view value) {
  target.settings.task = Settings::Task::kHelp;
  target.settings.help_topic = value == "1" ? "" : value;
  if (value.empty() || is_topic(value)) return {};
  return fmt::format("there is no such topic; topics are {}, and every option by its name",
                     topic_names(", "));
}

template <Settings::Task Task>
std::string set_task(OptionTarget target, std::string_view) {
  target.settings.task = Task;
  return {};
}

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
       set_ranks},
      {"--app", "-configfile", "", "FILE", kStart,
       "Read the programs from a file: on each line options, a program and its arguments, as between two "
       "':'; "
       "comments begin with #. Options in front of --app hold for all of them.",
       set_app_file},
      {"--vratio", "", "TMPI_VRATIO", "V", kStart,
       "Virtualization ratio: V ranks share a worker thread, so there are ceil(N/V) workers. Default: as "
       "many "
       "workers as there are "
       "cores this process may use, and V = ceil(N/cores).",
       set_vratio},
      {"--workers", "", "TMPI_WORKERS", "W", kStart,
       "Number of worker threads; V becomes ceil(N/W). More workers than cores is allowed: they share cores.",
       set_workers},
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
       set_policy, words_of(sched::kPolicies)},
      {"--balance", "", "TMPI_BALANCE", "HOW", kStart,
       "How ranks move between the workers of a node process, so that all have the same to do: " +
           describe_choices(sched::kBalances) + ". Needs --sched fifo.",
       set_balance, words_of(sched::kBalances)},
      {"--file-io", "", "TMPI_FILE_IO", "WAY", kStart,
       "Who reads and writes files for MPI-IO while a core runs other ranks: " +
           describe_choices(sched::kFileWays) +
           ". With SIZE: whatever moves so many bytes or more, wherever the file lies and whoever else could "
           "run.",
       set_file_io, words_of(sched::kFileWays)},
      {"--sleep", "", "TMPI_SLEEP", list_choices(kSleeping, "|", "|"), kStart,
       "What other ranks do on the core of a rank that sleeps, or waits in the system for something that "
       "does "
       "not come by MPI (read, accept, waitpid and the like): " +
           describe_choices(kSleeping) + ".",
       set_sleep, words_of(kSleeping)},
      {"--preempt", "", "TMPI_PREEMPT", "MS", kStart,
       "Takes the core away from a rank that has run for so many milliseconds without coming to MPI or "
       "giving "
       "way, where others share the core and it is in its own code (default: never).",
       set_preempt},
      {"--stack-size", "", "TMPI_STACK_SIZE", "SIZE", kStart,
       "Stack of each rank: bytes, or with the suffix k, M or G (default 8M, or what ulimit -s says where "
       "that "
       "is more, 64M where it says unlimited; less under a limit on address space). Only touched pages cost "
       "memory.",
       set_stack_size},
      {"--coll", "", "TMPI_COLL", "LIST", kStart,
       "Algorithms of collectives: NAME=ALGORITHM[,NAME=ALGORITHM...], as in ALLREDUCE=ring,BCAST=binomial; "
       "'help' lists all, with their conditions. An algorithm that does not work for a call is passed over "
       "(-v says so). 'reproducible': reductions give the same bits for any number of workers and nodes.",
       set_coll, "help reproducible"},
      {"--nodes", "", "TMPI_NODES", "K", kNetwork,
       "Run the job as K node processes on this machine, which share its cores and reach each other over the "
       "network only (default 1).",
       set_nodes},
      {"--npernode", "-N -ppn -perhost", "TMPI_NPERNODE", "N", kNetwork,
       "Ranks of each node process: takes the place of the hosts' slots. Without -n the program gets N ranks "
       "on each.",
       set_per_node},
      {"--host", "-H -hosts", "TMPI_HOST", "HOST[:SLOTS],...", kNetwork,
       "Run the job on these machines, one node process on each, started through ssh. May be repeated. Slots "
       "weigh the hosts "
       "(default 1): with at most as many ranks as slots no host gets more ranks than slots, beyond that "
       "each "
       "gets its part in proportion.",
       set_host_list},
      {"--hostfile", "--machinefile --default-hostfile -f", "TMPI_HOSTFILE", "FILE", kNetwork,
       "The same from a file with a host per line, as \"HOST slots=N\" or \"HOST:N\"; comments begin with #.",
       set_host_file},
      {"--launch-agent", "", "TMPI_SSH", "COMMAND", kNetwork,
       "What starts node processes on other machines (default ssh), with arguments: \"ssh -p 2222\". A "
       "host's "
       "name and a command are appended, or take the place of {}.",
       set_launch_agent},
      {"--map-by", "", "TMPI_MAP_BY", list_choices(kMapBy, "|", "|"), kNetwork,
       "Which node process runs which rank: " + describe_choices(kMapBy) + ".", set_map_by, words_of(kMapBy)},
      {"--rankfile", "-rf", "TMPI_RANKFILE", "FILE", kNetwork,
       "Which host and core runs which rank, from a file with a line \"rank N=HOST slot=CORE\" for each; "
       "also "
       "slot=SOCKET:CORE, +nK for host number K, and without slots. Ranks of one core share a worker.",
       set_rankfile},
      {"--net", "", "TMPI_NET", "TRANSPORT", kNetwork,
       "Transport between node processes: " + describe_choices(net::kTransports) +
           ". Settings as in tcp:interface=eth0 or sim:fdr-ib; 'help' lists all.",
       set_net, words_of(net::kTransports, "help")},
      {"--eager-limit", "", "TMPI_EAGER_LIMIT", "SIZE|dynamic[:SECONDS]", kNetwork,
       "Messages between node processes up to this size are sent at once, larger ones ask first. Default: "
       "what suits the transport. 'dynamic': begins there, and each pair of nodes gets a limit above the "
       "mean "
       "of its larger messages while the program computes between nonblocking calls and their waits; what "
       "has "
       "not been used for so long (default 5 s) is released.",
       set_eager_limit, "dynamic"},
      {"--rndv", "", "TMPI_RNDV", "PROTOCOL", kNetwork,
       "How larger messages travel: " + describe_choices(mpi::remote::kRendezvousProtocols) +
           ". With verbs and ofi the default is read.",
       set_rendezvous, words_of(mpi::remote::kRendezvousProtocols)},
      {"--progress", "", "TMPI_PROGRESS", "MODE", kNetwork,
       "Who runs the protocols between node processes while every core computes: " +
           describe_choices(sched::kProgressModes) + ".",
       set_progress, words_of(sched::kProgressModes)},
      {"-x", "", "TMPI_EXPORT", "VAR[=VALUE]", kRanks,
       "Set an environment variable in the ranks of this program. May be repeated. Ranks inherit tmpirun's "
       "environment anyway.",
       add_export},
      {"--show-libraries", "", "", "", kRanks,
       "Run nothing: list the libraries that the program needs, which of them each rank has of its own and "
       "which all "
       "ranks of a node process share, why, and how many bytes of data a rank has of each.",
       set_task<Settings::Task::kLibraries>},
      {"--share-library", "", "TMPI_SHARE_LIBRARY", "NAME", kRanks,
       "Load this library (libfoo.so.3, libfoo.so or libfoo) once for all ranks of a node process. May be "
       "repeated. By "
       "default every library is a rank's own but libc's family and what --show-libraries names.",
       add_to<&JobSpec::shared_libraries>},
      {"--private-library", "", "TMPI_PRIVATE_LIBRARY", "NAME", kRanks,
       "Give each rank its own copy of the data of a library that is shared by default. May be repeated.",
       add_to<&JobSpec::private_libraries>},
      {"--pid", "", "TMPI_PID", list_choices(kPids, "|", "|"), kRanks,
       "What getpid() says in a rank: " + describe_choices(kPids) + ".", set_pid, words_of(kPids)},
      {"--wdir", "--wd", "TMPI_WDIR", "DIR", kRanks, "Start the ranks in this directory.", set_wdir},
      {"--wrapper", "", "TMPI_WRAPPER", "COMMAND", kRanks,
       "Start each node process, which runs all ranks of its machine, through this command: \"gdb --args\", "
       "\"perf "
       "record -g\", \"strace -f -o FILE\". The same in front of the program's name works for env, nice, "
       "taskset, "
       "numactl and the like.",
       set_wrapper},
      {"--stdin", "-s", "TMPI_STDIN", "RANK|all|none", kRanks,
       "Who reads tmpirun's standard input: one rank (default 0), each of them all of it, or nobody. The "
       "others "
       "read the end of the file.",
       set_input, "all none"},
      {"--tag-output", "", "TMPI_TAG_OUTPUT", "", kOutput,
       "Prefix every line with its origin, as in [1,RANK]<stdout>:text.", set_tags<Tags::kSource>},
      {"-l", "--prepend-rank", "TMPI_PREPEND_RANK", "", kOutput,
       "Prefix every line with its rank, as in [RANK] text.", set_tags<Tags::kRank>},
      {"--merge-stderr-to-stdout", "", "TMPI_MERGE_STDERR_TO_STDOUT", "", kOutput,
       "What ranks write to stderr goes to tmpirun's stdout.", set_merge_output},
      {"--output-filename", "", "TMPI_OUTPUT_FILENAME", "DIR", kOutput,
       "Write each rank's output to DIR/rank.N/stdout and DIR/rank.N/stderr instead of tmpirun's own.",
       set_output_directory},
      {"--report-bindings", "", "TMPI_REPORT_BINDINGS", "", kOutput,
       "Say on which core each worker runs and which ranks it has.", set_job_flag<&JobSpec::report_bindings>},
      {"--profile", "", "TMPI_PROFILE", "[=FILE]", kOutput,
       "At the end, print where the time went: ranks, cores, and the call sites of MPI. With FILE, write it "
       "in "
       "full "
       "as JSON.",
       set_profile},
      {"--report", "", "TMPI_REPORT", "FILE", kOutput,
       "At the end, write a page for the browser: what to do first, efficiencies, cores, ranks, call sites "
       "and "
       "messages.",
       set_report},
      {"--trace", "", "TMPI_TRACE", "FILE", kOutput,
       "Write a timeline of cores, ranks and messages, to be opened in ui.perfetto.dev or chrome://tracing; "
       "FILE.otf2: an "
       "OTF2 archive, for Vampir and Scalasca.",
       set_file<&JobSpec::trace_file>},
      {"--trace-buffer", "", "TMPI_TRACE_BUFFER", "SIZE", kOutput,
       "Memory for the newest events of each worker (default 16M, 64 bytes an event).", set_trace_buffer},
      {"-q", "--quiet", "TMPI_QUIET", "", kOutput, "No warnings. Errors are always reported.",
       set_job_flag<&JobSpec::quiet>},
      {"-v", "--verbose", "TMPI_VERBOSE", "", kOutput,
       "Report workers, V and stack size at the start, and stack use and switches at the end.",
       set_job_flag<&JobSpec::verbose>},
      {"--check", "", "TMPI_CHECK", "", kControl,
       "Find misuse of MPI while the program runs: freed or foreign handles, buffers of pending operations "
       "used again, "
       "collective calls that do not match between ranks. Requests, communicators and others that are not "
       "freed at "
       "the end are listed.",
       set_job_flag<&JobSpec::check>},
      {"--record", "", "TMPI_RECORD", "FILE", kControl,
       "Write down what the program does not determine: which messages wildcards took, which requests and "
       "tests were "
       "complete, times, and what it sees of the layout. Reductions are those of --coll reproducible.",
       set_file<&JobSpec::record_file>},
      {"--replay", "", "TMPI_REPLAY", "FILE", kControl,
       "Run again what --record has written down, on any number of workers and nodes: the program gets the "
       "same answers. "
       "A run that departs from it ends and says where.",
       set_file<&JobSpec::replay_file>},
      {"--explore", "", "TMPI_EXPLORE", "[=SECONDS]", kControl,
       "Run the program again and again, each time with other messages for its receives with wildcards, "
       "until all orders have "
       "been tried, or for so long; one run at most for the seconds of --timeout, or 60. Reports each "
       "outcome that differs (deadlock, abort, exit code, output), "
       "with a file for "
       "--replay.",
       set_explore},
      {"--stacks", "", "", "", kControl,
       "Run nothing: show by which calls the ranks of a running job have come to where they are, as one tree "
       "with the ranks of each branch. The job is that of --job, or the only one of yours on this machine.",
       set_task<Settings::Task::kStacks>},
      {"--job", "", "", "JOB", kControl,
       "The running job that --stacks is about: the process id of its tmpirun.", set_job},
      {"--timeout", "", "TMPI_TIMEOUT", "SECONDS", kControl,
       "End the job after this time with exit code 124, after a state dump: where every rank is.",
       set_seconds<&Settings::timeout>},
      {"--start-timeout", "", "TMPI_START_TIMEOUT", "SECONDS", kControl,
       "How long other hosts have to start their node processes (default 60), a password typed in meanwhile "
       "included.",
       set_seconds<&Settings::start_timeout>},
      {"--other-jobs", "", "TMPI_OTHER_JOBS", "", kControl,
       "Be ready to be connected with other jobs, though the program itself does not refer to "
       "MPI_Comm_accept, "
       "MPI_Comm_connect or MPI_Comm_join: a library of it does (Python).",
       set_job_flag<&JobSpec::other_jobs>},
      {"--no-deadlock-check", "", "TMPI_NO_DEADLOCK_CHECK", "", kControl,
       "Leave a job blocked whose ranks all wait for each other. By default it ends by itself within a "
       "second, "
       "with "
       "exit code 125 and a report of who waits for whom.",
       set_no_deadlock_check},
      {"--polling-limit", "", "TMPI_POLLING_LIMIT", "SECONDS", kControl,
       "How long ranks may do nothing but test and probe in vain until a warning says so (default 10). After "
       "six times as long it is a deadlock.",
       set_polling_limit},
      {"--version", "-V", "", "", kControl, "Print tmpi's version and exit.",
       set_task<Settings::Task::kVersion>},
      {"--help", "-h", "", "[=TOPIC]", kControl,
       "Print this text, or of it what belongs to a topic, and exit. Topics are " + topic_names(", ") +
           ", and every option by its name.",
       set_help, topic_names(" ")},
      {"--explored", "", "", "FILE", "", "", set_explored},
      {"--print-options", "", "", "", "", "", set_task<Settings::Task::kOptions>},
      {"--print-markdown", "", "", "", "", "", set_task<Settings::Task::kMarkdown>},
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

Result<long> parse_number(std::string_view text, long least, long most) {
  long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || end != text.data() + text.size() || error == std::errc::invalid_argument) {
    return Failure{"expected a whole number"};
  }
  if (error != std::errc{} || value < least || value > most) {
    return Failure{fmt::format("expected a whole number from {} to {}", least, most)};
  }
  return value;
}

Result<std::size_t> parse_size(std::string_view text) {
  std::size_t unit = 1;
  if (!text.empty()) {
    switch (text.back()) {
      case 'k':
      case 'K':
        unit = std::size_t{1} << 10;
        break;
      case 'm':
      case 'M':
        unit = std::size_t{1} << 20;
        break;
      case 'g':
      case 'G':
        unit = std::size_t{1} << 30;
        break;
      default:
        break;
    }
  }
  if (unit > 1) text.remove_suffix(1);
  const Result<long> number = parse_number(text, 1, 1L << 32);
  if (!number) return Failure{"expected a size such as 65536, 256k, 1M or 1G"};
  return static_cast<std::size_t>(*number) * unit;
}

}  // namespace tmpi::launch
