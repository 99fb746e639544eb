#include "tests/privatize/harness.hpp"

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memory>

#include "privatize/rank_callbacks.hpp"
#include "privatize/thread_hooks.hpp"
#include "ult/stack_arena.hpp"
#include "ult/switch.hpp"

namespace tmpi::test {
namespace {

struct RankFiber : ult::Fiber {
  int rank = -1;
  bool finished = false;
};

/// Processor time, not wall-clock: tests share the machine.
double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Sum of the process's own dirty pages and page tables, in KB.
long dirty_kilobytes() {
  long sum = 0;
  for (const char* file : {"/proc/self/smaps_rollup", "/proc/self/status"}) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
      if (line.rfind("Private_Dirty:", 0) == 0) sum += std::stol(line.substr(14));
      if (line.rfind("VmPTE:", 0) == 0) sum += std::stol(line.substr(6));
    }
  }
  return sum;
}

/// One run at a time.
struct Run {
  const RunOptions* options = nullptr;
  privatize::Group* group = nullptr;
  ult::Thread thread;
  ult::Fiber main;
  std::vector<RankFiber> fibers;
  RankFiber* running = nullptr;
  Outcome outcome;
};
Run* current = nullptr;

void rank_entry(ult::Fiber& self) noexcept {
  auto& fiber = static_cast<RankFiber&>(self);
  std::vector<std::string> arguments{current->options->program};
  arguments.insert(arguments.end(), current->options->arguments.begin(), current->options->arguments.end());
  current->group->run_image(fiber.rank, arguments, {"TMPI_TEST_RANK=" + std::to_string(fiber.rank)});
}

void resume(RankFiber& fiber) {
  current->running = &fiber;
  privatize::set_running_rank(fiber.rank);
  ult::switch_to(current->thread, current->main, fiber);
  privatize::set_running_rank(-1);
  current->running = nullptr;
}

void run_all() {
  for (bool alive = true; alive;) {
    alive = false;
    for (RankFiber& fiber : current->fibers) {
      if (fiber.finished) continue;
      alive = true;
      resume(fiber);
    }
  }
}

// What the programs' ranks ask of the node process.
void exited(int rank, int code) {
  RankFiber& fiber = *current->running;
  fiber.finished = true;
  current->outcome.codes[static_cast<std::size_t>(rank)] = code;
  ult::abandon_to(current->thread, fiber, current->main);
}

void take_thread_pointer(ThreadPointer& pointer) noexcept {
  current->running->run_with(&pointer);
  ult::take_thread_pointer(current->thread, *current->running);
}

void aborted(int rank, const char* why) {
  std::fprintf(stderr, "rank %d: %s\n", rank, why);
  std::abort();
}

ssize_t write(int, int stream, const void* data, std::size_t length) {
  return static_cast<ssize_t>(std::fwrite(data, 1, length, stream == 1 ? stdout : stderr));
}

ssize_t read(int, void*, std::size_t) {
  return 0;
}

}  // namespace

std::string program(const std::string& name) {
  return std::string(TMPI_TEST_PROGRAMS) + "/" + name;
}

Outcome run(const RunOptions& options) {
  privatize::set_thread_hooks({.takes_thread_pointer = take_thread_pointer});
  privatize::register_rank_callbacks({.exited = exited, .aborted = aborted, .write = write, .read = read});
  Run run;
  run.options = &options;
  privatize::GroupOptions group_options;
  group_options.program = options.program;
  group_options.images = options.ranks;
  group_options.shim = options.shim;
  group_options.libraries = options.libraries;
  auto group = privatize::Group::load(group_options);
  if (!group) {
    run.outcome.error = group.message();
    return run.outcome;
  }
  run.group = group->get();
  const long dirty = options.measure ? dirty_kilobytes() : 0;
  const double begin = cpu_seconds();
  for (int i = 0; i < options.ranks; ++i) {
    if (auto r = run.group->map_image(i, i); !r) {
      run.outcome.error = r.message();
      return run.outcome;
    }
  }
  run.outcome.map_seconds = cpu_seconds() - begin;
  if (options.measure) run.outcome.map_kilobytes = dirty_kilobytes() - dirty;
  ult::StackOptions stack_options;
  stack_options.count = options.ranks;
  stack_options.size = options.stack_size;
  stack_options.executable = run.group->needs_exec_stack();
  auto stacks = ult::StackArena::create(stack_options);
  if (!stacks) {
    run.outcome.error = stacks.message();
    return run.outcome;
  }
  current = &run;
  run.outcome.codes.assign(static_cast<std::size_t>(options.ranks), -1);
  run.fibers.resize(static_cast<std::size_t>(options.ranks));
  ult::attach(run.thread, run.main);
  run.thread.takes_pointers = true;
  for (int i = 0; i < options.ranks; ++i) {
    RankFiber& fiber = run.fibers[static_cast<std::size_t>(i)];
    fiber.rank = i;
    fiber.stack = (*stacks)->stack(i);
    ult::prepare(fiber, &rank_entry);
  }
  run_all();
  ult::detach(run.main);
  current = nullptr;
  // Threads that ranks have left behind (OpenMP's teams) still refer to their images.
  if (options.leaves_threads) static_cast<void>(group->release());
  return run.outcome;
}

}  // namespace tmpi::test

using tmpi::test::current;

extern "C" {
#define EXPORTED __attribute__((visibility("default")))

// Ranks that have ended leave what they did not free, and their own pointers to it are unmapped with their
// images.
EXPORTED const char* __asan_default_options() {
  return "detect_leaks=0";
}

EXPORTED int tmpi_test_rank() {
  return tmpi::privatize::running_rank();
}
EXPORTED void tmpi_test_yield() {
  auto& fiber = *current->running;
  tmpi::ult::switch_to(current->thread, fiber, current->main);
}
EXPORTED void tmpi_test_failed(const char* file, int line, const char* what) {
  current->outcome.failures.push_back("rank " + std::to_string(tmpi_test_rank()) + ": " + file + ":" +
                                      std::to_string(line) + ": " + what);
}
EXPORTED void tmpi_test_count(const char* event) {
  ++current->outcome.counts[event];
}
}
