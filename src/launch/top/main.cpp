// tmpi-top: what a running job does, in a terminal.
#include <fmt/core.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <optional>
#include <string>

#include "launch/neighbours/job_door.hpp"
#include "launch/top/screen.hpp"
#include "launch/top/view.hpp"

namespace tmpi::launch {
namespace {

constexpr int kUsage = 2;
constexpr int kPatience = 20;  // seconds
constexpr double kLeastInterval = 0.1, kMostInterval = 3600;

constexpr char kHelp[] =
    "usage: tmpi-top [--once] [-d SECONDS] [JOB]\n"
    "Shows what a running job of yours on this machine does: how busy its cores are, where its ranks are and "
    "what they wait for. "
    "JOB is the process id of its tmpirun; it may be left out if there is only one.\n"
    "  --once                print it once, for scripts\n"
    "  -d, --delay SECONDS   so often is it drawn anew, and so long are rates measured; default: 1\n"
    "  -h, --help            print this text\n"
    "q ends it. The job goes on undisturbed.\n";

int complain(const std::string& sentence, int code) {
  fmt::print(stderr, "tmpi-top: {}\n", sentence);
  return code;
}

struct Arguments {
  int job = 0;
  double interval = 1;
  bool once = false, help = false;
};

std::optional<double> number_in(const std::string& word) {
  char* end = nullptr;
  const double number = strtod(word.c_str(), &end);
  return word.empty() || *end != 0 ? std::nullopt : std::optional(number);
}

Result<Arguments> parse(int argc, char** argv) {
  Arguments parsed;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "-h" || word == "--help") {
      parsed.help = true;
    } else if (word == "--once") {
      parsed.once = true;
    } else if (word == "-d" || word == "--delay") {
      const std::optional<double> seconds = ++i < argc ? number_in(argv[i]) : std::nullopt;
      if (!seconds || !(*seconds >= kLeastInterval && *seconds <= kMostInterval))
        return Failure{fmt::format("{} needs seconds, from {} to {}", word, kLeastInterval, kMostInterval)};
      parsed.interval = *seconds;
    } else if (const std::optional<double> job = number_in(word);
               job && parsed.job == 0 && *job >= 1 && *job < 1e9) {
      parsed.job = static_cast<int>(*job);
    } else {
      return Failure{
          fmt::format("'{}' is no option, and no process id of a job. `tmpi-top --help` lists all", word)};
    }
  }
  return parsed;
}

Result<JobFigures> figures_of(AskedJob& job, bool (*given_up)() = nullptr) {
  const Result<std::string> answer = job.ask(FrameType::kDoorFigures, kPatience, given_up);
  if (!answer) return Failure{answer.message()};
  return unpacked<JobFigures>(*answer, "what the job answers is cut short");
}

void sleep_for(double seconds) {
  const auto whole = static_cast<time_t>(seconds);
  timespec left{whole, static_cast<long>((seconds - static_cast<double>(whole)) * 1e9)};
  while (nanosleep(&left, &left) != 0) {
  }
}

int show_once(AskedJob& job, double interval) {
  const Result<JobFigures> before = figures_of(job);
  if (!before) return complain(before.message(), 1);
  sleep_for(interval);
  const Result<JobFigures> now = figures_of(job);
  if (!now) return complain(now.message(), 1);
  const std::string text = view(job.job(), *before, *now, {});
  return fwrite(text.data(), 1, text.size(), stdout) == text.size() && fflush(stdout) == 0
             ? 0
             : complain("cannot write to stdout", 1);
}

// How it has ended.
struct Ending {
  std::string message;  // empty: by a key or a signal
  int signal = 0;
};

Ending show_until_told(AskedJob& job, double interval) {
  Screen screen;
  std::optional<JobFigures> before, now;
  for (;;) {
    Result<JobFigures> figures = figures_of(job, &Screen::told);
    if (figures) {
      before = now ? std::move(now) : std::optional(*figures);
      now = *std::move(figures);
    } else if (!Screen::told()) {
      return {figures.message(), 0};
    }
    for (Screen::Event event = Screen::Event::kRedraw; event == Screen::Event::kRedraw;) {
      if (now) screen.draw(view(job.job(), *before, *now, Screen::size()));
      event = screen.wait(now ? interval : 0);
      if (event == Screen::Event::kQuit) return {{}, screen.signal()};
    }
  }
}

int run(int argc, char** argv) {
  const Result<Arguments> arguments = parse(argc, argv);
  if (!arguments) return complain(arguments.message(), kUsage);
  if (arguments->help) {
    fmt::print("{}", kHelp);
    return 0;
  }
  Result<AskedJob> job = AskedJob::find(arguments->job);
  if (!job) return complain(job.message(), 1);
  if (arguments->once) return show_once(*job, arguments->interval);
  if (!Screen::possible())
    return complain("stdin and stdout are no terminal. With --once it prints what it has to say once",
                    kUsage);
  const Ending ending = show_until_told(*job, arguments->interval);
  if (ending.signal != 0) {  // as if it had not been taken
    signal(ending.signal, SIG_DFL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, ending.signal);
    sigprocmask(SIG_UNBLOCK, &set, nullptr);
    raise(ending.signal);
  }
  if (!ending.message.empty()) fmt::print("tmpi-top: {}\n", ending.message);
  return 0;
}

}  // namespace
}  // namespace tmpi::launch

int main(int argc, char** argv) {
  return tmpi::launch::run(argc, argv);
}
