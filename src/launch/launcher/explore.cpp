#include "launch/launcher/explore.hpp"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/fd.hpp"
#include "launch/system/program_path.hpp"
#include "replay/alternatives.hpp"
#include "replay/choice.hpp"
#include "replay/explored_events.hpp"
#include "replay/record_file.hpp"

namespace tmpi::launch {
namespace {

namespace fs = std::filesystem;
volatile std::sig_atomic_t the_signal = 0;  // that has come, 0: none

using Decided = std::pair<replay::Place, replay::Taken>;

/// What a run is to do.
struct Plan {
  std::vector<Decided> decisions;  ///< that it comes to first; all others are free
  bool synchronous = false;        ///< sends wait for their receives
  int seed = 0;                    ///< of the order in which ranks run; 0: as ever

  /// It differs from another one by the order of messages.
  bool orders() const { return decisions.empty() || decisions.back().first.receives; }
};

constexpr int kSeeds = 8;

constexpr std::size_t kMostLines = 4;                         // of an outcome that are shown
constexpr double kSecondsOfRun = 60;                          // without --timeout
constexpr std::size_t kMostOfPlans = std::size_t{256} << 20;  // bytes

/// What of a run is compared: the exit code, what is said of its end, and what each rank has printed.
struct Outcome {
  int code = 0;
  std::string end;
  std::vector<std::string> lines;
  auto operator<=>(const Outcome&) const = default;
};

struct Found {
  int runs = 0;
  bool synchronous = true;  ///< only where sends wait
  int seed = 0;             ///< only found by this one
  std::uintmax_t size = 0;  ///< of the record of the shortest run with it
  fs::path file;            ///< that record, empty: it could not be kept
};

std::string whole(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Of `[R] text`: the rank, so that each rank's lines keep their order.
long rank_of(const std::string& line) {
  return line.starts_with('[') ? std::strtol(line.c_str() + 1, nullptr, 10) : -1;
}

std::vector<std::string> lines_by_rank(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  std::ranges::stable_sort(lines, {}, &rank_of);
  return lines;
}

/// Empty: there is none.
std::string line_with(const std::string& text, std::string_view part) {
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.find(part) != std::string::npos) return line;
  }
  return {};
}

/// The sentence by which tmpirun says why a job has ended.
std::string end_of(const std::string& errors) {
  std::istringstream stream(errors);
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("tmpirun: ") && !line.starts_with("tmpirun: warning")) return line.substr(9);
  }
  return {};
}

/// Each run has it from where tmpirun has it, if it is a file; else none. In a child.
void open_input_anew() {
  struct stat input {};
  const bool is_file = fstat(STDIN_FILENO, &input) == 0 && S_ISREG(input.st_mode);
  const off_t from = is_file ? lseek(STDIN_FILENO, 0, SEEK_CUR) : -1;
  const Fd opened(open(is_file ? "/proc/self/fd/0" : "/dev/null", O_RDONLY));
  if (!opened || dup2(opened.get(), STDIN_FILENO) < 0) _exit(kExitCannotRun);
  if (from > 0) lseek(STDIN_FILENO, from, SEEK_SET);
}

std::vector<std::string> words_of(char** argv) {
  std::vector<std::string> words;
  for (char** word = argv + 1; *word != nullptr; ++word) words.emplace_back(*word);
  return words;
}

class Explorer {
 public:
  Explorer(const Settings& settings, char** argv)
      : words_(words_of(argv)),
        seconds_(settings.explore_seconds),
        seconds_of_run_(settings.timeout > 0 ? settings.timeout : kSecondsOfRun) {
    const fs::path program = settings.job.apps.front().program;
    kept_ = fs::absolute(program.filename().string() + ".explored");
  }
  ~Explorer() {
    std::error_code ignored;
    if (!directory_.empty()) fs::remove_all(directory_, ignored);
  }
  Explorer(const Explorer&) = delete;

  int run() {
    std::string name = (fs::temp_directory_path() / "tmpi-explore-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      return complain(fmt::format("cannot make {}: {}", name, strerror(errno)));
    directory_ = name;
    unsetenv("TMPI_EXPLORE");  // of ranks that start jobs
    const auto begin = std::chrono::steady_clock::now();
    const auto over = [&] {
      return seconds_ > 0 &&
             std::chrono::steady_clock::now() - begin > std::chrono::duration<double>(seconds_);
    };
    for (const int number : {SIGINT, SIGTERM}) end_by(number);
    std::vector<Plan> first = first_plans();
    while (!over() && the_signal == 0) {
      if (nothing_left()) {
        if (first.empty()) break;
        add(std::move(first.back()));
        first.pop_back();
      }
      ++runs_;
      if (!run_once(next())) return 1;
    }
    unbegun_ = !first.empty();
    return report();
  }

 private:
  /// The last one is the one to begin with.
  static std::vector<Plan> first_plans() {
    std::vector<Plan> plans;
    for (int seed = kSeeds; seed > 0; --seed) plans.push_back({{}, false, seed});
    plans.push_back({{}, true});
    plans.push_back({});
    return plans;
  }
  bool nothing_left() const { return plans_.empty() && answers_.empty(); }
  /// Orders of messages come before answers of tests, of which there are many.
  Plan next() {
    std::vector<Plan>& from = plans_.empty() ? answers_ : plans_;
    Plan plan = std::move(from.back());
    from.pop_back();
    held_ -= size_of(plan);
    return plan;
  }

  /// The job that runs is ended by the same signal.
  static void end_by(int number) {
    struct sigaction action {};
    action.sa_handler = [](int signal) { the_signal = signal; };
    sigaction(number, &action, nullptr);
  }

  static int complain(const std::string& sentence) {
    fmt::print(stderr, "tmpirun: --explore: {}\n", sentence);
    return 1;
  }

  fs::path file(const char* name) const { return directory_ / name; }

  bool run_once(const Plan& plan) {
    if (!write_plan(plan)) return false;
    for (const char* name : {"out", "err", "record", "explored"}) {
      std::error_code missing;
      fs::remove(file(name), missing);
    }
    const int code = start(plan);
    if (the_signal != 0) {
      add(plan);
      return true;
    }
    const std::string errors = whole(file("err"));
    if (const std::string why = line_with(errors, replay::kCannotExplore); !why.empty()) {
      fmt::print(stderr, "{}\n", why);
      return false;
    }
    const Outcome outcome = outcome_of(code, errors);
    const Result<replay::Record> explored = replay::read_record(file("explored").string());
    if (!explored) {  // it has not come so far
      fmt::print(stderr, "{}", errors);
      return complain("the job could not be started") == 0;
    }
    std::map<int, std::vector<replay::ExploredEvent>> events;
    for (const auto& [rank, bytes] : explored->ranks) events[rank] = replay::read_explored_events(bytes);
    header_ = explored->header;
    const std::vector<replay::Decision> decisions = replay::decisions_of(events);
    // A message that did not come although the clocks said that it could: the job stands still for that alone.
    const bool stood_still = outcome.code == kExitDeadlock || outcome.code == kExitTimeout;
    if (stood_still && !kept_to(plan, decisions)) return true;
    if (plan.seed == 0 && !plan.synchronous) ++(plan.orders() ? orders_ : other_answers_);
    keep(outcome, plan);
    if (plan.seed == 0) branch(decisions, plan.synchronous);
    return true;
  }

  Outcome outcome_of(int code, const std::string& errors) const {
    // What it has printed so far is another thing each time.
    if (code == kExitTimeout && !line_with(errors, "was ended after its --timeout").empty())
      return {code, fmt::format("a run was ended after {} seconds (--timeout)", seconds_of_run_), {}};
    return {code, code == 0 ? "" : end_of(errors), lines_by_rank(whole(file("out")))};
  }

  static bool kept_to(const Plan& plan, const std::vector<replay::Decision>& decisions) {
    return std::ranges::all_of(plan.decisions, [&](const Decided& planned) {
      return std::ranges::any_of(decisions, [&](const replay::Decision& decision) {
        return decision.place == planned.first && decision.taken == planned.second;
      });
    });
  }

  bool write_plan(const Plan& plan) {
    using replay::ChoiceKind;
    if (plan.decisions.empty() && !plan.synchronous) return true;
    replay::Record record{header_, {}};
    std::map<int, int> tags;
    for (int rank = 0; plan.synchronous && rank < header_.ranks; ++rank)
      replay::encode({ChoiceKind::kSynchronous}, tags[rank], record.ranks[rank]);
    for (const auto& [place, taken] : plan.decisions) {
      replay::Choice choice{place.receives ? ChoiceKind::kPlanned : ChoiceKind::kDecided, place.number};
      choice.source = taken.source;
      choice.tag = taken.tag;
      replay::encode(choice, tags[place.rank], record.ranks[place.rank]);
    }
    const Result<void> written = replay::write_record(file("plan").string(), record);
    return written || complain(written.message()) == 0;
  }

  /// The exit code of tmpirun.
  int start(const Plan& plan) {
    std::vector<std::string> words{"tmpirun",
                                   "-q",
                                   "-l",
                                   "--workers",
                                   "1",
                                   "--timeout",
                                   fmt::format("{}", seconds_of_run_),
                                   "--record",
                                   file("record").string(),
                                   "--explored",
                                   file("explored").string()};
    if (!plan.decisions.empty() || plan.synchronous)
      words.insert(words.end(), {"--replay", file("plan").string()});
    if (plan.seed != 0) words.insert(words.end(), {"--sched", fmt::format("random:{}", plan.seed)});
    words.insert(words.end(), words_.begin(), words_.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      open_input_anew();
      for (const auto& [name, descriptor] :
           {std::pair("out", STDOUT_FILENO), std::pair("err", STDERR_FILENO)}) {
        const int written = open(file(name).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (written < 0 || dup2(written, descriptor) < 0) _exit(kExitCannotRun);
      }
      execv("/proc/self/exe", pointers.data());
      _exit(kExitCannotRun);
    }
    int status = 0;
    if (child < 0) return kExitCannotRun;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
      if (the_signal != 0) kill(child, the_signal);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  void keep(const Outcome& outcome, const Plan& plan) {
    auto [place, fresh] = outcomes_.try_emplace(outcome);
    Found& found = place->second;
    found.synchronous = found.synchronous && plan.synchronous;
    if (fresh) {
      order_.push_back(&*place);
      found.seed = plan.seed;
    }
    if (plan.seed == 0 && found.synchronous == plan.synchronous) ++found.runs;
    std::error_code failed;
    const std::uintmax_t size = fs::file_size(file("record"), failed);
    if (failed || (!fresh && size >= found.size)) return;
    found.size = size;
    // The first one's is kept only if there is another one.
    found.file = kept(file("record"), &*place == order_.front() ? file("first") : kept_as(position(&*place)));
  }

  fs::path kept_as(std::size_t number) const { return fmt::format("{}-{}", kept_.string(), number); }

  /// `to`, a copy; empty: it could not be made.
  static fs::path kept(const fs::path& from, const fs::path& to) {
    std::error_code failed;
    if (fs::copy_file(from, to, fs::copy_options::overwrite_existing, failed)) return to;
    complain(fmt::format("cannot keep a record as {}: {}", to.string(), failed.message()));
    return {};
  }

  std::size_t position(const std::pair<const Outcome, Found>* outcome) const {
    return static_cast<std::size_t>(std::ranges::find(order_, outcome) - order_.begin()) + 1;
  }

  static std::string key(const Plan& plan) {
    std::string text;
    for (const auto& [place, taken] : plan.decisions)
      text += fmt::format("{}{}{}={}.{} ", place.rank, place.receives ? '.' : '?', place.number, taken.source,
                          taken.tag);
    return text + (plan.synchronous ? "s" : "");
  }

  static std::size_t size_of(const Plan& plan) {
    return sizeof plan + plan.decisions.size() * sizeof(Decided);
  }

  void add(Plan plan) {
    held_ += size_of(plan);
    (plan.orders() ? plans_ : answers_).push_back(std::move(plan));
  }

  /// Whether it is new.
  bool see(const Plan& prefix) {
    const auto [place, fresh] = seen_.insert(key(prefix));
    if (fresh) held_ += sizeof *place + place->size();
    return fresh;
  }

  /// For each decision: alike until there, and then another message. The deepest first.
  void branch(const std::vector<replay::Decision>& decisions, bool synchronous) {
    Plan prefix{{}, synchronous};
    for (const replay::Decision& decision : decisions) {
      crowded_ = crowded_ || held_ > kMostOfPlans;
      if (held_ > kMostOfPlans) return;
      prefix.decisions.emplace_back(decision.place, decision.taken);
      see(prefix);
      for (const replay::Taken& other : decision.others) {
        prefix.decisions.back().second = other;
        if (see(prefix)) add(prefix);
      }
      prefix.decisions.back().second = decision.taken;
    }
  }

  static std::string describe(const Outcome& outcome) {
    std::string text = fmt::format("exit code {}", outcome.code);
    if (!outcome.end.empty()) text += ": " + outcome.end;
    return text;
  }

  /// The first lines of an outcome that another one has not.
  static std::string difference(const Outcome& outcome, const Outcome& from) {
    std::string text;
    std::size_t shown = 0;
    for (const std::string& line : outcome.lines) {
      if (std::ranges::find(from.lines, line) != from.lines.end()) continue;
      if (shown++ == kMostLines) return text + "\n    ...";
      text += "\n    " + line;
    }
    return text;
  }

  int report() {
    if (order_.empty()) return 128 + the_signal;
    const bool complete = nothing_left() && !crowded_;
    std::string orders = fmt::format("{} order{}", orders_, orders_ == 1 ? "" : "s");
    if (other_answers_ > 0)
      orders += fmt::format(" and {} other answer{} of tests and completions", other_answers_,
                            other_answers_ == 1 ? "" : "s");
    if (order_.size() == 1) {
      const Outcome& only = order_.front()->first;
      fmt::print("tmpirun: --explore: {}{}: same result, {}\n",
                 complete && orders_ + other_answers_ > 1 ? "all " : "", orders, describe(only));
    } else {
      fmt::print("tmpirun: --explore: {} different outcomes of {} in {} runs\n", order_.size(), orders,
                 runs_);
      for (const auto* one : order_) print_outcome(*one);
    }
    if (crowded_) {
      fmt::print("  there are more orders: the list of those to be tried was not to take more than {} MiB\n",
                 kMostOfPlans >> 20);
    }
    if (!nothing_left())
      fmt::print("  the time is over; {} orders are known that have not been tried\n",
                 plans_.size() + answers_.size());
    else if (unbegun_ && the_signal == 0)
      fmt::print("  the time is over; sends that wait, and other orders of ranks, have not all been tried\n");
    if (the_signal != 0) return 128 + the_signal;
    return order_.size() == 1 ? order_.front()->first.code : 1;
  }

  void print_outcome(const std::pair<const Outcome, Found>& one) {
    const auto& [outcome, found] = one;
    const bool first = &one == order_.front();
    const std::size_t number = position(&one);
    fs::path file = found.file;
    if (first && !file.empty()) file = kept(file, kept_as(number));
    const std::string seed = fmt::format("--sched random:{}", found.seed);
    const std::string where = found.runs == 0   ? "with " + seed
                              : found.runs == 1 ? "1 order"
                                                : fmt::format("{} orders", found.runs);
    fmt::print("  {}. {}{}: {}{}\n", number, where,
               found.runs > 0 && found.synchronous ? ", if sends wait for their receives" : "",
               describe(outcome), difference(outcome, order_[first ? 1 : 0]->first));
    if (!file.empty())
      fmt::print("    again: tmpirun --replay {} {}...\n", file.string(), found.runs == 0 ? seed + " " : "");
  }

  const std::vector<std::string> words_;
  const double seconds_, seconds_of_run_;
  fs::path directory_, kept_;
  replay::RecordHeader header_;
  std::vector<Plan> plans_, answers_;  // by what they end in
  std::set<std::string> seen_;
  std::map<Outcome, Found> outcomes_;
  std::vector<const std::pair<const Outcome, Found>*> order_;  // of outcomes, as they were found
  std::size_t held_ = 0;                                       // bytes of plans_ and seen_
  bool crowded_ = false;                                       // there was no room for more plans
  int runs_ = 0;
  int orders_ = 0;
  int other_answers_ = 0;
  bool unbegun_ = false;  // not all of first_plans() have been tried
};

}  // namespace

int explore(const Settings& settings, char** argv) {
  if (!settings.job.record_file.empty() || !settings.job.replay_file.empty()) {
    fmt::print(stderr, "tmpirun: --explore records and replays by itself; leave --record and --replay out\n");
    return kExitUsage;
  }
  if (!settings.output_directory.empty() || settings.tags == Tags::kSource) {
    fmt::print(stderr,
               "tmpirun: --explore compares what the ranks of many runs print, and takes it itself; leave "
               "--output-filename and --tag-output out\n");
    return kExitUsage;
  }
  return Explorer(settings, argv).run();
}

}  // namespace tmpi::launch
