#include "launch/node/node_figures.hpp"

#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <fstream>

#include "mpi/rank/rank.hpp"
#include "sched/scheduler.hpp"

namespace tmpi::launch {
namespace {

std::int64_t nanoseconds_of(clockid_t clock) noexcept {
  timespec time{};
  if (clock_gettime(clock, &time) != 0) return 0;
  return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

// Of a thread of this process, by its number: as pthread_getcpuclockid() makes it.
clockid_t processor_time_of(int thread) noexcept {
  constexpr int kOfThread = 4, kScheduled = 2;
  return static_cast<clockid_t>(~static_cast<unsigned>(thread) << 3 | kOfThread | kScheduled);
}

std::int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::int64_t size = 0, resident = 0;
  file >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

}  // namespace

NodeFigures node_figures() {
  NodeFigures node;
  node.pid = getpid();
  node.time = nanoseconds_of(CLOCK_MONOTONIC);
  node.memory = resident_bytes();
  const sched::Scheduler* const scheduler = sched::scheduler();
  mpi::Job* const job = mpi::job();
  if (scheduler == nullptr || job == nullptr) return node;
  node.host = job->host();
  node.switches = static_cast<std::int64_t>(scheduler->switches());
  node.workers.resize(static_cast<std::size_t>(scheduler->workers()));
  std::vector<int> threads(node.workers.size());
  for (int id = 0; id < scheduler->tasks(); ++id) {
    const sched::Task& task = scheduler->task(id);
    threads[static_cast<std::size_t>(scheduler->worker_of(task))] = sched::os_thread_of(task);
  }
  for (std::size_t i = 0; i < threads.size(); ++i) {
    if (threads[i] != 0) node.workers[i].busy = nanoseconds_of(processor_time_of(threads[i]));
    node.workers[i].ready = scheduler->ready(static_cast<int>(i));
  }
  return node;
}

}  // namespace tmpi::launch
