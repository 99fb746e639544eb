// A tmpi program that is started by itself is a job of one rank: libtmpi.so registers here what MPI_Init then
// needs. Output and input are the process's own.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "launch/library/own_ports.hpp"
#include "launch/library/started_alone.hpp"
#include "mpi/rank/callbacks.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/tool/events.hpp"
#include "sched/scheduler.hpp"

namespace tmpi::launch {

namespace {

void start_singleton() {
  check_surroundings();
  sched::Options options;
  options.bind = false;           // the process's affinity is its own affair
  options.stack_size = 64 << 10;  // reserved, never used: the one rank runs on the process's stack
  Result<std::unique_ptr<sched::Scheduler>> scheduler = sched::Scheduler::create(options);
  if (!scheduler) {
    fmt::print(stderr, "tmpi: {}\n", scheduler.message());
    _exit(1);
  }
  (*scheduler)->meter_switches();  // a job of one rank hardly switches
  (*scheduler)->set_interrupt_hook([](sched::Task& task) noexcept {
    mpi::tool::deliver_events(*static_cast<mpi::Rank*>(task.owner));
  });
  mpi::Rank& rank = *mpi::Job::create(mpi::Placement(1)).local(0);
  rank.has_threads.store(true, std::memory_order_relaxed);  // nobody tells us whether it has
  rank.task = &(*scheduler)->adopt_current_thread(&rank);
  static_cast<void>((*scheduler).release());  // lives as long as the process
}

void abort_job(mpi::Rank&, int code, std::string_view text) {
  if (!text.empty()) std::fprintf(stderr, "tmpi: %.*s\n", static_cast<int>(text.size()), text.data());
  fflush(nullptr);
  _exit((code & 0xff) == 0 ? 1 : code & 0xff);
}

// The command line as the kernel keeps it: words that end with NUL each.
std::vector<std::string> command_line() {
  std::vector<std::string> words;
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  for (std::string word; std::getline(file, word, '\0');) words.push_back(std::move(word));
  return words;
}

mpi::StartInfo start_info(const mpi::Rank&) {
  mpi::StartInfo info;
  const std::vector<std::string> words = command_line();
  if (!words.empty()) {
    info.entries.emplace_back("command", words.front());
    info.entries.emplace_back("argv", fmt::format("{}", fmt::join(words.begin() + 1, words.end(), " ")));
  }
  info.entries.emplace_back("maxprocs", "1");
  return info;
}

[[gnu::constructor]] void register_singleton() {
  mpi::Callbacks callbacks{};
  callbacks.abort_job = &abort_job;
  callbacks.start_singleton = &start_singleton;
  callbacks.rank_of_thread = []() noexcept { return mpi::job() != nullptr ? mpi::job()->local(0) : nullptr; };
  callbacks.start_info = &start_info;
  callbacks.ports = &own_ports;
  mpi::register_callbacks(callbacks);
}

}  // namespace

}  // namespace tmpi::launch
