#include "launch/options/option_values.hpp"

#include <fmt/core.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "launch/options/choices.hpp"
#include "launch/spec/saved_job.hpp"
#include "launch/system/words.hpp"
#include "mpi/base/placement.hpp"
#include "mpi/remote/rendezvous.hpp"
#include "net/transports.hpp"
#include "sched/balances.hpp"
#include "sched/file_ways.hpp"
#include "sched/policies.hpp"
#include "sched/progress.hpp"

namespace tmpi::launch {
namespace option_values {
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

std::string set_hosts(Settings& settings, std::string_view option, Result<std::vector<HostSlots>> hosts) {
  if (!hosts) return hosts.message();
  if (!settings.hosts_from.empty() && settings.hosts_from != option)
    return fmt::format("{} is given as well; give one of the two", settings.hosts_from);
  settings.hosts = *std::move(hosts);
  settings.hosts_from = option;
  return {};
}

}  // namespace

std::string absolute(std::string_view path) {
  std::error_code failed;
  const std::filesystem::path whole = std::filesystem::absolute(path, failed);
  return failed ? std::string(path) : whole.string();
}

std::string topic_names(std::string_view between) {
  std::string names;
  for (const Topic& topic : topic_table()) names.append(names.empty() ? "" : between).append(topic.name);
  return names;
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

std::string set_slot_size(OptionTarget target, std::string_view value) {
  const Result<std::size_t> size = parse_size(value);
  if (!size) return size.message();
  if (!std::has_single_bit(*size)) return "expected a power of two, as in 8G";
  target.settings.job.slot_bytes = *size;
  return {};
}

namespace {

/// In seconds, or with ms, s, min or h. Milliseconds; 0: it is none.
int milliseconds_of(std::string_view time) {
  constexpr long kMost = 1'000'000'000, kLeast = 100;
  const std::string_view unit = time.substr(std::min(time.find_first_not_of("0123456789"), time.size()));
  const Result<long> count = parse_number(time.substr(0, time.size() - unit.size()), 1, kMost);
  const long factor = unit == "h"                   ? 3'600'000
                      : unit == "min"               ? 60'000
                      : unit.empty() || unit == "s" ? 1000
                      : unit == "ms"                ? 1
                                                    : 0;
  if (!count || *count * factor < kLeast || *count * factor > kMost) return 0;
  return static_cast<int>(*count * factor);
}

}  // namespace

std::string set_checkpoint(OptionTarget target, std::string_view value) {
  constexpr std::string_view kExpected =
      "expected every=TIME, to=DIRECTORY, signal=USR1 or USR2 with commas between, as in "
      "every=10min,to=saved";
  JobSpec& job = target.settings.job;
  if (value.empty()) return std::string(kExpected);
  for (std::string_view rest = value; !rest.empty();) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(part.size() + 1, rest.size()));
    if (part.starts_with("to=")) {
      std::error_code unknown;  // then it stays as it is
      job.checkpoint_to = std::filesystem::absolute(part.substr(3), unknown).string();
    } else if (part.starts_with("every=")) {
      job.checkpoint_every = milliseconds_of(part.substr(6));
      if (job.checkpoint_every == 0) return std::string(kExpected);
    } else if (part == "signal=USR1" || part == "signal=USR2") {
      target.settings.checkpoint_signal = part.ends_with('1') ? SIGUSR1 : SIGUSR2;
    } else {
      return std::string(kExpected);
    }
  }
  job.migratable = job.checkpoints = true;
  return {};
}

std::string set_survive(OptionTarget target, std::string_view value) {
  constexpr long kMostCopies = 1000;
  JobSpec& job = target.settings.job;
  job.migratable = job.checkpoints = true;
  return set_int(job.survive, value, 0, kMostCopies);
}

std::string set_spare_hosts(OptionTarget target, std::string_view value) {
  Result<std::vector<HostSlots>> hosts = parse_host_list(value);
  if (!hosts) return hosts.message();
  target.settings.spare_hosts = *std::move(hosts);
  return {};
}

std::string set_restart(OptionTarget target, std::string_view value) {
  const Result<std::string> folder = find_checkpoint(std::string(value));
  if (!folder) return folder.message();
  Result<JobSpec> saved = read_saved_job(*folder);
  if (!saved) return saved.message();
  target.settings.job.restart = *folder;
  target.settings.saved = *std::move(saved);
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

std::string set_merge_output(OptionTarget target, std::string_view value) {
  target.settings.merge_output = value == "1";
  return {};
}

std::string set_help(OptionTarget target, std::string_view value) {
  target.settings.task = Settings::Task::kHelp;
  target.settings.help_topic = value == "1" ? "" : value;
  if (value.empty() || is_topic(value)) return {};
  return fmt::format("there is no such topic; topics are {}, and every option by its name",
                     topic_names(", "));
}

}  // namespace option_values

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
