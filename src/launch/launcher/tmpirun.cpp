// tmpirun's main: options, the programs' paths, the node processes, the loop.
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "launch/attach/attachment.hpp"
#include "launch/attach/slurm_allocation.hpp"
#include "launch/launcher/explore.hpp"
#include "launch/launcher/launcher.hpp"
#include "launch/launcher/record_and_replay.hpp"
#include "launch/launcher/terminal_text.hpp"
#include "launch/neighbours/job_door.hpp"
#include "launch/options/compatibility.hpp"
#include "launch/options/options.hpp"
#include "launch/plan/program_prefix.hpp"
#include "launch/spec/memory_store.hpp"
#include "launch/spec/stack_limit.hpp"
#include "launch/system/program_path.hpp"
#include "launch/system/version.hpp"
#include "net/secret.hpp"

extern char** environ;

namespace tmpi::launch {

namespace {

int complain(const std::string& sentence, int code) {
  fmt::print(stderr, "tmpirun: {}\n", sentence);
  return code;
}

void warn(const Settings& settings, const std::string& sentence) {
  if (!sentence.empty() && !settings.job.quiet) complain("warning: " + sentence, 0);
}

/// Random, and the same in all node processes of the job. The first byte of the stack's is zero, so that no text goes over it.
Result<void> choose_guards(JobSpec& job) {
  std::array<std::uint64_t, 2> numbers{};
  if (const Result<void> drawn = net::draw_random(std::as_writable_bytes(std::span(numbers))); !drawn)
    return drawn;
  job.stack_guard = numbers[0] & ~std::uint64_t{0xff};
  job.pointer_guard = numbers[1];
  return {};
}

/// Zero is none.
Result<void> draw_memory_store(JobSpec& job) {
  const Result<void> drawn = net::draw_random(std::as_writable_bytes(std::span(&job.memory_store, 1)));
  job.memory_store |= 1;
  return drawn;
}

/// Of a job whose checkpoints lie in memory; empty: each has as many as it should.
std::string few_copies_sentence(const JobSpec& job, const JobPlan& plan) {
  if (job.memory_store == 0 || job.survive < plan.size()) return "";
  return fmt::format("--survive {}: ranks are on {} node process{}, so that {}", job.survive, plan.size(),
                     plan.size() == 1 ? "" : "es",
                     plan.size() == 1
                         ? "there is no copy of them elsewhere"
                         : fmt::format("each has {} there", plan.size() == 2 ? "one copy" : "fewer copies"));
}

std::map<std::string, std::string> process_environment() {
  std::map<std::string, std::string> all;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view line = *entry;
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos) all.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  return all;
}

/// Blocks the signals that the launcher serves and gives a descriptor on which they arrive. Signals that our
/// starter had us ignore (nohup) stay ignored.
int open_signals() {
  signal(SIGPIPE, SIG_IGN);
  for (const int number : {SIGCHLD, SIGCONT}) signal(number, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  for (int number : SignalHandler::handled_signals()) {
    struct sigaction action {};
    sigaction(number, nullptr, &action);
    if (action.sa_handler != SIG_IGN) sigaddset(&set, number);
  }
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

/// Whoever starts us with a closed stdin must not find one of our channels in its place.
void occupy_standard_descriptors() {
  Fd fd(open("/dev/null", O_RDWR));
  while (fd && fd.get() <= STDERR_FILENO) {
    fd.release();  // it stays
    fd.reset(open("/dev/null", O_RDWR));
  }
}

int print_and_exit(const std::string& text) {
  fmt::print("{}", text);
  return fflush(stdout) == 0 ? 0 : 1;
}

/// The tables of algorithms and of transports are in tmpi-node, and so is the loader.
int ask_node_process(std::vector<std::string> question) {
  const Result<std::string> executable = find_companion("tmpi-node");
  if (!executable) return complain(executable.message(), kExitNotFound);
  std::vector<char*> words{const_cast<char*>(executable->c_str())};
  for (std::string& word : question) words.push_back(word.data());
  words.push_back(nullptr);
  execv(executable->c_str(), words.data());
  return complain(fmt::format("cannot start {}: {}", *executable, strerror(errno)), kExitCannotRun);
}

/// Of the first program.
int show_libraries(const Settings& settings) {
  const AppSpec& app = settings.job.apps.front();
  const ProgramPath found = find_program(app.program, app.wdir);
  if (found.path.empty()) return complain(found.problem, found.exit_code);
  std::vector<std::string> question{"--show-libraries", found.path};
  for (const std::string& name : settings.job.shared_libraries) question.push_back("--share-library=" + name);
  for (const std::string& name : settings.job.private_libraries)
    question.push_back("--private-library=" + name);
  for (const std::string& line : app.environment) question.push_back("-x=" + line);
  return ask_node_process(std::move(question));
}

/// Where a node process on this machine runs them. Others look themselves.
std::optional<int> resolve_programs(Settings& settings, const JobPlan& plan) {
  const bool any_here = std::ranges::any_of(plan.nodes, [](const NodePlan& node) { return !node.remote; });
  for (AppSpec& app : settings.job.apps) {
    ProgramPath found = find_program(app.program, app.wdir);
    if (!found.path.empty()) {
      app.program = std::move(found.path);
    } else if (any_here) {
      return complain(found.problem, found.exit_code);
    }
  }
  return std::nullopt;
}

/// Of a running job.
int ask_job(const Settings& settings, std::string_view option, FrameType question, int seconds) {
  Result<AskedJob> job = AskedJob::find(settings.asked_job);
  if (!job) return complain(fmt::format("{}: {}", option, job.message()), 1);
  const Result<std::string> text = job->ask(question, seconds, nullptr, settings.asked);
  return text ? print_and_exit(*text) : complain(fmt::format("{}: {}", option, text.message()), 1);
}

constexpr int kPatience = 20;      // seconds
constexpr int kForMoments = 3600;  // a moment of the ranks, and what it takes to write them down

/// Gathers node processes that Slurm starts, and then becomes tmpirun again.
int exec_slurm(char** argv) {
  const Result<std::string> executable = find_companion("tmpi-slurm");
  if (!executable) return complain(executable.message(), kExitNotFound);
  execv(executable->c_str(), argv);
  return complain(fmt::format("cannot start {}: {}", *executable, strerror(errno)), kExitCannotRun);
}

int run_job(Settings& settings, const Attachment& attachment) {
  for (const std::string& warning : settings.warnings) warn(settings, warning);
  warn(settings, passed_over_sentence(settings));
  const Result<std::string> executable = find_companion("tmpi-node");
  if (!executable) return complain(executable.message(), kExitNotFound);
  Result<JobPlan> plan = plan_job(settings, *executable, attachment);
  if (!plan) return complain(plan.message(), kExitNotFound);
  plan->starter = watch_starter(attachment);
  if (const std::optional<int> code = resolve_programs(settings, *plan)) return *code;
  std::optional<OutputFiles> files;
  if (!settings.output_directory.empty()) {
    Result<OutputFiles> created = OutputFiles::create(settings.output_directory);
    if (!created) return complain(created.message(), 1);
    files.emplace(*std::move(created));
  }
  Result<ProfileReport> profile = ProfileReport::prepare(settings.job);
  if (!profile) return complain(profile.message(), 1);
  Result<TraceReport> trace = TraceReport::prepare(settings.job);
  if (!trace) return complain(trace.message(), 1);
  if (const Result<void> ready = prepare_record_and_replay(settings, plan->size()); !ready)
    return complain(ready.message(), 1);
  for (const std::string& warning : replay_warnings(settings.job)) warn(settings, warning);
  if (settings.job.checkpoints && settings.job.checkpoint_to.empty()) {
    if (const Result<void> drawn = draw_memory_store(settings.job); !drawn)
      return complain(drawn.message(), 1);
  }
  const int signals = open_signals();
  Output output(settings.tags, settings.merge_output, std::move(files));
  Attempt attempt;
  if (settings.timeout > 0)
    attempt.timeout = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                         std::chrono::duration<double>(settings.timeout));
  int code = 0;
  for (;;) {
    warn(settings, few_copies_sentence(settings.job, *plan));
    Launcher launcher(settings, *std::move(plan), output, *profile, *trace, signals, attempt);
    code = launcher.run();
    if (!launcher.resumption()) break;
    attempt.in_vain = launcher.attempts_in_vain();
    if (const Result<void> resumed = resume(settings, *launcher.resumption()); !resumed) {
      code = complain(resumed.message(), 1);
      break;
    }
    plan = plan_job(settings, *executable, attachment);
    if (!plan) {
      code = complain(plan.message(), kExitNotFound);
      break;
    }
  }
  if (settings.job.memory_store != 0) MemoryStore::remove(settings.job.memory_store);
  release(attachment);
  return code;
}

// What is thrown ends in the terminate handler (system/no_memory.hpp), which words it.
int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape)
  occupy_standard_descriptors();
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const Result<Attachment> attachment = take_attachment();
  if (!attachment) return complain(attachment.message(), kExitUsage);
  const auto environment = process_environment();
  Result<Settings> settings =
      parse_options(arguments, environment, attachment->slots(), static_cast<int>(attachment->nodes.size()));
  if (!settings) return complain(settings.message(), kExitUsage);
  if (settings->job.restart.empty()) settings->job.default_stack = stack_by_limit();
  if (settings->job.migratable && settings->job.stack_guard == 0) {
    if (const Result<void> chosen = choose_guards(settings->job); !chosen)
      return complain(chosen.message(), 1);
  }
  switch (settings->task) {
    case Settings::Task::kHelp:
      return show_text(help_text(settings->help_topic, stdout_wants_colours()));
    case Settings::Task::kVersion:
      return print_and_exit(fmt::format("tmpirun (tmpi) {}\n", kVersion));
    case Settings::Task::kOptions:
      return print_and_exit(option_lines());
    case Settings::Task::kMarkdown:
      return print_and_exit(markdown_table());
    case Settings::Task::kCollectives:
      return ask_node_process({"--list-collectives"});
    case Settings::Task::kTransports:
      return ask_node_process({"--list-transports"});
    case Settings::Task::kLibraries:
      return show_libraries(*settings);
    case Settings::Task::kStacks:
      return ask_job(*settings, "--stacks", FrameType::kDoorStacks, kPatience);
    case Settings::Task::kCheckpointNow:
      return ask_job(*settings, "--checkpoint-now", FrameType::kDoorCheckpoint, kForMoments);
    case Settings::Task::kAddHosts:
      return ask_job(*settings, "--add-host", FrameType::kDoorAddHosts, kForMoments);
    case Settings::Task::kRemoveHosts:
      return ask_job(*settings, "--remove-host", FrameType::kDoorRemoveHosts, kForMoments);
    case Settings::Task::kExplore:
      return explore(*settings, argv);
    case Settings::Task::kRun:
      break;
  }
  if (const Result<void> taken = take_prefixes(*settings); !taken)
    return complain(taken.message(), kExitUsage);
  const bool places_given = settings->nodes > 0 || !settings->hosts.empty() || !settings->places.empty();
  if (!attachment->nodes.empty() && places_given) {
    return complain(
        "--nodes, --host, --hostfile and --rankfile have no place here: the launcher has started the node "
        "processes "
        "already. "
        "Leave them out.",
        kExitUsage);
  }
  const bool by_slurm = attachment->nodes.empty() && !places_given && slurm_is_needed(environment);
  if (!settings->wrapper.empty() && (by_slurm || !attachment->nodes.empty())) {
    return complain(
        fmt::format(
            "--wrapper {}: the launcher starts the node processes here, not tmpirun; start them through the "
            "wrapper there (srun {} tmpi-node PROGRAM), or name the hosts with --host",
            fmt::join(settings->wrapper, " "), fmt::join(settings->wrapper, " ")),
        kExitUsage);
  }
  if (settings->job.survive >= 0 && (by_slurm || !attachment->nodes.empty()))
    return complain(
        "--survive: the launcher starts the node processes here, not tmpirun, which could not start them "
        "again; name the "
        "hosts with --host, or write checkpoints and use --restart in the next job",
        kExitUsage);
  if (by_slurm) return exec_slurm(argv);
  return run_job(*settings, *attachment);
}

}  // namespace

}  // namespace tmpi::launch

int main(int argc, char** argv) {  // NOLINT(bugprone-exception-escape)
  return tmpi::launch::main(argc, argv);
}
