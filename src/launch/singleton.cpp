// A tmpi program that is started by itself is a job of one rank: libtmpi.so registers here what MPI_Init then
// needs. Output and input are the process's own.
#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "mpi/core/rank.hpp"
#include "mpi/core/services.hpp"
#include "sched/scheduler.hpp"

namespace tmpi::launch {

namespace {

void start_singleton() {
  sched::Options options;
  options.bind = false;           // the process's affinity is its own affair
  options.stack_size = 64 << 10;  // reserved, never used: the one rank runs on the process's stack
  Result<std::unique_ptr<sched::Scheduler>> scheduler = sched::Scheduler::create(options);
  if (!scheduler) {
    fmt::print(stderr, "tmpi: {}\n", scheduler.message());
    _exit(1);
  }
  mpi::Rank& rank = *mpi::Job::create(1, 0, 1).local(0);
  rank.task = &(*scheduler)->adopt_current_thread(&rank);
  static_cast<void>((*scheduler).release());  // lives as long as the process
}

void abort_job(mpi::Rank&, int code, const std::string& text) {
  if (!text.empty()) fmt::print(stderr, "tmpi: {}\n", text);
  fflush(nullptr);
  _exit((code & 0xff) == 0 ? 1 : code & 0xff);
}

[[gnu::constructor]] void register_singleton() {
  mpi::Services services{};
  services.abort_job = &abort_job;
  services.start_singleton = &start_singleton;
  mpi::register_services(services);
}

}  // namespace

}  // namespace tmpi::launch
