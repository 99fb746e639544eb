// From arguments and environment to Settings.
#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "launch/options/app_file.hpp"
#include "launch/options/compatibility.hpp"
#include "launch/options/options.hpp"
#include "launch/options/suggest.hpp"
#include "launch/system/variables.hpp"

namespace tmpi::launch {

namespace {

std::vector<std::string> spellings(const Option& option) {
  std::vector<std::string> all{std::string(option.name)};
  for (std::string_view rest = option.aliases; !rest.empty();) {
    const std::size_t blank = rest.find(' ');
    all.emplace_back(rest.substr(0, blank));
    rest.remove_prefix(blank == std::string_view::npos ? rest.size() : blank + 1);
  }
  return all;
}

const Option* find_option(std::string_view word) {
  for (const std::span<const Option> table : {option_table(), compatibility_table()}) {
    for (const Option& option : table) {
      if (has_spelling(option, word)) return &option;
    }
  }
  return nullptr;
}

Failure unknown_option(std::string_view word) {
  std::vector<std::string> known;
  for (const Option& option : option_table()) {
    if (option.group.empty()) continue;
    for (const std::string& spelling : spellings(option)) known.push_back(spelling);
  }
  constexpr std::string_view kElse =
      "`tmpirun --help` lists the options; a program's own options follow its name.";
  if (const std::string_view what = counterpart(word); !what.empty())
    return Failure{
        fmt::format("unknown option '{}'; what serves its purpose here is {}. {}", word, what, kElse)};
  const std::string near = suggest(word, known);
  return Failure{fmt::format("unknown option '{}'{} {}", word,
                             near.empty() ? "." : fmt::format("; did you mean '{}'?", near), kElse)};
}

std::optional<std::string> flag_value(std::string_view text) {
  for (std::string_view yes : {"1", "yes", "true", "on"}) {
    if (text == yes) return "1";
  }
  for (std::string_view no : {"0", "no", "false", "off", ""}) {
    if (text == no) return "0";
  }
  return std::nullopt;
}

constexpr int kSurviveEvery = 60'000;  // milliseconds

class Parser {
 public:
  Parser(std::span<const std::string> arguments, const std::map<std::string, std::string>& environment,
         int slots, int attached)
      : arguments_(arguments), environment_(environment), slots_(slots), attached_(attached) {}

  Result<Settings> parse() {
    AppSpec from_environment;
    from_environment.ranks = 0;  // not given
    if (Result<void> ok = read_environment(from_environment); !ok) return ok.failure();
    if (Result<void> ok = read_programs(from_environment); !ok) return ok.failure();
    if (settings_.asked_job != 0 && settings_.task == Settings::Task::kRun)
      return Failure{
          "--job names a job that runs already; with it goes what is asked of that: --stacks, "
          "--checkpoint-now, --add-host or --remove-host"};
    if (!needs_program()) return settings_;
    for (AppSpec& app : settings_.job.apps) {
      if (app.ranks == 0) app.ranks = ranks_by_default();
      std::vector<std::string> lines = settings_.environment;
      for (std::string& line : app.environment) put_variable(lines, std::move(line));
      app.environment = std::move(lines);
    }
    if (Result<void> ok = check_together(); !ok) return ok.failure();
    describe_options();
    return settings_;
  }

 private:
  bool needs_program() const {
    return settings_.task == Settings::Task::kRun || settings_.task == Settings::Task::kLibraries ||
           settings_.task == Settings::Task::kExplore;
  }

  int ranks_by_default() const {
    if (!settings_.places.empty() && settings_.job.apps.size() == 1)
      return static_cast<int>(settings_.places.size());
    const auto hosts = static_cast<int>(settings_.hosts.size());
    if (settings_.per_node > 0) return settings_.per_node * std::max({1, settings_.nodes, hosts, attached_});
    return std::max(slots_ * std::max(settings_.job.vratio, 1), 1);
  }

  // For tools that ask the job.
  void describe_options() {
    for (const Option& option : option_table()) {
      const bool asks = option.argument.empty() || option.name == "--help" || option.name == "--job" ||
                        option.name == "--add-host" ||
                        option.name == "--remove-host";  // something, and runs no job
      if (option.variable.empty() && asks) continue;
      settings_.job.options.push_back(
          {std::string(option.name), given_[std::string(option.name)], option.help});
    }
  }

  Result<void> read_environment(AppSpec& app) {
    if (Result<void> ok = read_foreign_timeout(app); !ok) return ok;
    if (Result<void> ok = read_slurm_cpus(app); !ok) return ok;
    for (const Option& option : option_table()) {
      const auto found =
          option.variable.empty() ? environment_.end() : environment_.find(std::string(option.variable));
      if (found == environment_.end()) continue;
      if (Result<void> ok = apply(option, found->first, found->second, app); !ok) return ok;
    }
    settings_.host_list.clear();  // --host replaces what a variable says
    return {};
  }

  // Of Hydra and Open MPI, both of which take what is not positive for no limit.
  Result<void> read_foreign_timeout(AppSpec& app) {
    const auto found = environment_.find("MPIEXEC_TIMEOUT");
    if (found == environment_.end() || found->second.empty() || found->second == "0" ||
        found->second.starts_with('-'))
      return {};
    return apply(*find_option("--timeout"), found->first, found->second, app);
  }

  // What the user has asked Slurm for: `sbatch --cpus-per-task`.
  Result<void> read_slurm_cpus(AppSpec& app) {
    const auto found = environment_.find("SLURM_CPUS_PER_TASK");
    if (found == environment_.end() || !environment_.contains("SLURM_JOB_ID")) return {};
    return apply(*find_option("--cpus-per-rank"), found->first, found->second, app);
  }

  Result<void> apply(const Option& option, std::string_view spelling, std::string_view value, AppSpec& app) {
    std::string text(value);
    if (option.argument.empty()) {
      const std::optional<std::string> flag = flag_value(value);
      if (!flag) return Failure{fmt::format("{}={}: expected 1 or 0", spelling, value)};
      text = *flag;
    }
    const std::string complaint = option.apply({settings_, app, spelling}, text);
    if (complaint.empty()) {
      std::string& given = given_[std::string(option.name)];
      // Of -x, every one; of others the last.
      const bool another = option.name == "-x" && !given.empty();
      given = another ? given + " " + text : text;
      return {};
    }
    return Failure{
        fmt::format("{}{}{}: {}", spelling, spelling.starts_with('-') ? " " : "=", value, complaint)};
  }

  /// One option at next_, with its value.
  Result<void> read_option(AppSpec& app) {
    std::string_view word = arguments_[next_++];
    std::optional<std::string_view> value;
    if (const std::size_t equals = word.find('=');
        equals != std::string_view::npos && word.starts_with("--")) {
      value = word.substr(equals + 1);
      word = word.substr(0, equals);
    }
    const Option* option = find_option(word);
    if (!option) return unknown_option(word);
    if (option->argument.empty()) {
      if (value && !flag_value(*value)) return Failure{fmt::format("{} takes no value", word)};
      return apply(*option, word, value.value_or("1"), app);
    }
    if (option->argument.starts_with('[')) return apply(*option, word, value.value_or(""), app);
    const bool two_words = option->argument.find(' ') != std::string::npos && !value;
    const bool pair =
        two_words && (next_ == arguments_.size() || arguments_[next_].find('=', 1) == std::string::npos);
    if (arguments_.size() - next_ < (pair ? 2 : value ? 0 : 1))
      return Failure{fmt::format("{} needs {}: {} {}", word, pair ? "a name and a value" : "a value", word,
                                 option->argument)};
    if (pair) {
      next_ += 2;
      return apply(*option, word, arguments_[next_ - 2] + "=" + arguments_[next_ - 1], app);
    }
    return apply(*option, word, value ? *value : arguments_[next_++], app);
  }

  /// Programs with ':' between them, up to the end. What is not said of them is as in `start`.
  Result<void> read_programs(const AppSpec& start) {
    do {
      AppSpec app = start;
      if (Result<void> ok = read_section(app); !ok) return ok;
      if (!needs_program()) return {};
      if (!settings_.app_file.empty()) return read_file(std::exchange(settings_.app_file, {}), app);
      if (!settings_.job.restart.empty()) return take_saved_job(app);
      settings_.job.apps.push_back(std::move(app));
    } while (next_ < arguments_.size());
    return {};
  }

  /// --restart: the programs as they were, with the addresses that they had.
  Result<void> take_saved_job(const AppSpec& said) {
    JobSpec& job = settings_.job;
    JobSpec& saved = settings_.saved;
    if (job.stack_size != 0 || job.slot_bytes != 0 || !job.shared_libraries.empty() ||
        !job.private_libraries.empty())
      return Failure{
          "--restart: --stack-size, --slot-size, --share-library and --private-library are those of the "
          "checkpoint. Leave "
          "them out"};
    if (!said.program.empty())
      return Failure{fmt::format("--restart goes on with {}, which was running: leave {} out",
                                 saved.apps.front().arguments.front(), said.program)};
    if (said.ranks != 0 && said.ranks != saved.total_ranks())
      return Failure{fmt::format("-n {}: the checkpoint is of {} ranks, which can only go on together",
                                 said.ranks, saved.total_ranks())};
    job.migratable = true;
    job.slot_bytes = saved.slot_bytes;
    job.stack_guard = saved.stack_guard;
    job.pointer_guard = saved.pointer_guard;
    job.checkpoint = saved.checkpoint;
    job.stack_size = saved.stack_size;
    job.default_stack = saved.default_stack;
    job.shared_libraries = saved.shared_libraries;
    job.private_libraries = saved.private_libraries;
    job.apps = std::move(saved.apps);
    return {};
  }

  Result<void> read_file(const std::string& path, const AppSpec& start) {
    const Result<std::vector<AppFileLine>> lines = read_app_file(path);
    if (!lines) return Failure{fmt::format("--app {}: {}", path, lines.message())};
    in_file_ = true;
    for (const AppFileLine& line : *lines) {
      arguments_ = line.words;
      next_ = 0;
      if (Result<void> ok = read_programs(start); !ok)
        return Failure{fmt::format("--app {}, line {}: {}", path, line.number, ok.message())};
      if (!needs_program()) return {};
    }
    arguments_ = {};
    next_ = 0;
    return {};
  }

  /// Nothing else may stand behind --app.
  Result<void> check_app_file() const {
    if (in_file_) return Failure{"such a file cannot name another one"};
    if (next_ == arguments_.size()) return {};
    return Failure{
        fmt::format("--app {}: '{}' stands behind it, but the file has the programs. Put options in front of "
                    "--app, and programs into the file",
                    settings_.app_file, arguments_[next_])};
  }

  /// Options, the program and its arguments up to ":" or the end.
  Result<void> read_section(AppSpec& app) {
    while (next_ < arguments_.size() && arguments_[next_].size() > 1 && arguments_[next_][0] == '-') {
      if (arguments_[next_] == "--") {
        ++next_;
        break;
      }
      if (Result<void> ok = read_option(app); !ok) return ok;
      if (!needs_program() && !asks_job(settings_.task)) return {};
    }
    if (asks_job(settings_.task)) {
      if (next_ == arguments_.size()) return {};
      return Failure{fmt::format(
          "--stacks, --checkpoint-now, --add-host and --remove-host are about a job that runs, and run "
          "nothing: leave {} out",
          arguments_[next_])};
    }
    if (!settings_.app_file.empty()) return check_app_file();
    if (next_ == arguments_.size() && !settings_.job.restart.empty()) return {};
    if (next_ == arguments_.size() || arguments_[next_] == ":") {
      return Failure{
          "no program given. Usage: tmpirun [options] PROGRAM [arguments] [: [options] PROGRAM "
          "[arguments]]..."};
    }
    app.program = arguments_[next_];
    while (next_ < arguments_.size() && arguments_[next_] != ":")
      app.arguments.push_back(arguments_[next_++]);
    if (next_ == arguments_.size()) return {};
    if (++next_ == arguments_.size()) return Failure{"no program after the last ':'"};
    return {};
  }

  Result<void> check_together() {
    JobSpec& job = settings_.job;
    if (job.survive >= 0 && job.checkpoint_every == 0) job.checkpoint_every = kSurviveEvery;
    if (job.checkpoints && job.checkpoint_to.empty() && job.survive < 0)
      return Failure{
          "--checkpoint without to=DIRECTORY keeps ranks in the memory of the hosts, which only --survive N "
          "makes use of: give one of the two"};
    if (!settings_.spare_hosts.empty() && job.survive < 0)
      return Failure{"--spare-hosts are for jobs that survive the loss of a host: add --survive N"};
    if (job.migratable && (!job.record_file.empty() || !job.replay_file.empty()))
      return Failure{
          "--migratable with --record or --replay: what is recorded does not go with a rank. Give only one"};
    if (job.migratable && (job.observed() || job.check))
      return Failure{
          "--migratable, --checkpoint, --survive or --restart with --profile, --report, --trace or --check: "
          "these watch "
          "a process's "
          "calls, and know nothing of a rank that comes from another one. Give only one"};
    long ranks = 0;
    for (const AppSpec& app : job.apps) ranks += app.ranks;
    if (Result<void> ok = place_ranks(ranks); !ok) return ok;
    if (settings_.nodes > 0 && !settings_.hosts.empty()) {
      return Failure{fmt::format(
          "--nodes {} with {}: --nodes starts node processes on this machine, with {} there is one "
          "for each host. Give only one of the two.",
          settings_.nodes, settings_.hosts_from, settings_.hosts_from)};
    }
    // Scripts that put one command line in front of everything start jobs of one rank, too.
    if (settings_.nodes > ranks && settings_.places.empty()) {
      settings_.warnings.push_back(
          fmt::format("--nodes {} with {} rank{}: every node process needs at least one, so there {} {}",
                      settings_.nodes, ranks, ranks == 1 ? "" : "s", ranks == 1 ? "is" : "are", ranks));
      settings_.nodes = static_cast<int>(ranks);
    }
    if (job.input_rank >= ranks) {
      return Failure{fmt::format("--stdin {}: there is no such rank, the job has {}", job.input_rank, ranks)};
    }
    const long processes = std::max<long>(settings_.nodes, static_cast<long>(settings_.hosts.size()));
    if (processes <= 1 && job.vratio > 0 && job.workers > 0 &&
        static_cast<long>(job.vratio) * job.workers < ranks) {
      return Failure{
          fmt::format("--vratio {} with --workers {} has room for {} ranks, but the job has {}. Give only "
                      "one of the two.",
                      job.vratio, job.workers, static_cast<long>(job.vratio) * job.workers, ranks)};
    }
    return {};
  }

  /// --rankfile: hosts and cores of the ranks.
  Result<void> place_ranks(long ranks) {
    std::vector<ChosenPlace>& places = settings_.places;
    if (places.empty()) return {};
    JobSpec& job = settings_.job;
    if (std::cmp_less(places.size(), ranks))
      return Failure{
          fmt::format("--rankfile: the job has {} ranks, the file lines for {}", ranks, places.size())};
    if (job.vratio > 0 || job.workers > 0)
      return Failure{
          "--rankfile with --vratio or --workers: the file says which ranks share a core. Leave the "
          "others out"};
    if (job.cpus_per_rank > 1 || job.cpus_per_rank == kByThreads)
      return Failure{
          "--rankfile with --cpus-per-rank: the file names one core for each rank. Leave one of the two out"};
    places.resize(static_cast<std::size_t>(ranks));
    const bool named_here = settings_.hosts.empty() && settings_.nodes == 0;
    Result<std::vector<int>> numbers = resolve_hosts(places, settings_.hosts, settings_.nodes);
    if (!numbers) return Failure{fmt::format("--rankfile: {}", numbers.message())};
    settings_.placed_on = *std::move(numbers);
    if (named_here) settings_.hosts_from = "--rankfile";
    if (places.front().core.core < 0) return {};
    for (const ChosenPlace& place : places) job.cores.push_back(place.core);
    return {};
  }

  std::span<const std::string> arguments_;
  const std::map<std::string, std::string>& environment_;
  int slots_;
  int attached_;
  std::size_t next_ = 0;
  bool in_file_ = false;  // --app: arguments_ are those of a line of it
  Settings settings_;
  std::map<std::string, std::string> given_;  // by the option's name
};

}  // namespace

std::string_view without_dashes(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  return word;
}

bool has_spelling(const Option& option, std::string_view word) {
  return std::ranges::any_of(spellings(option), [&](const std::string& spelling) {
    return without_dashes(spelling) == without_dashes(word);
  });
}

Result<Settings> parse_options(std::span<const std::string> arguments,
                               const std::map<std::string, std::string>& environment, int slots,
                               int attached) {
  return Parser(arguments, environment, slots, attached).parse();
}

}  // namespace tmpi::launch
