#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "sched/metering.hpp"
#include "sched/process/node_scheduler.hpp"
#include "sched/threads/attendant.hpp"
#include "timers/clock.hpp"

namespace tmpi::sched {

void NodeScheduler::set_switch_hook(SwitchHook hook) {
  const SwitchHook first = metering::put_before(hook);
  for (auto& worker : shared_.workers) worker->set_switch_hook(first);
}

void NodeScheduler::meter_switches() noexcept {
  if (switches_metered()) return;
  const SwitchHook hook = metering::switch_on();
  for (auto& worker : shared_.workers) worker->set_switch_hook(hook);
}

void NodeScheduler::observe_switches(SwitchObserver observer) {
  if (!metering::add(observer)) fatal("more observers of switches than there is room for");
  meter_switches();
}

void NodeScheduler::admit_threads() noexcept {
  inside_worker.assume();
  Worker& here = *this_worker();
  here.door().expect_ranks(true);
  if (here.door().admits()) return;
  here.close();
  // Tasks that have not run yet learn it from the worker.
  for (int i = 0; i < tasks(); ++i) {
    Task& task = tasks_.at(i);
    if (task.worker == &here) task.monitored.store(true, std::memory_order_relaxed);
  }
  here.admit(here.running()->inside);
}

bool NodeScheduler::set_drain_hook(DrainHook hook) {
  // The barrier interrupts every worker that runs, whenever one falls asleep: not where many do.
  constexpr int kMostInterrupted = 8;
  // Nor where tasks move: who has left something looks afterwards whether the task is still there (mpi/p2p/send.cpp).
  const bool move = shared_.balancer != nullptr;
  shared_.parking.quick =
      hook != nullptr && options_.workers <= kMostInterrupted && !move && enable_process_barrier();
  for (auto& worker : shared_.workers) worker->set_drain_hook(hook);
  return shared_.parking.quick;
}

void NodeScheduler::set_event_source(const EventSource& source) {
  inside_worker.assume();  // nobody is yet
  if (progress_ != Progress::kPoll && source.expected != nullptr) {
    progress_threads_.emplace(shared_, source);
    detail::g_single_worker = false;
    // Who spins is inside all the time.
    const bool sleeps = progress_ == Progress::kThread && options_.workers == 1;
    detail::g_bias = sleeps && enable_process_barrier() ? &bias_ : nullptr;
  }
  // Who spins on cores of their own need nobody who watches in addition.
  if (!progress_spins() && !shared_.parking.watch.set(source.arm)) {
    end_at_limit(fmt::format(
        "cannot have a descriptor that wakes who waits for the network: {}. Raise the limit on open files "
        "(ulimit -n).",
        std::strerror(errno)));
  }
  shared_.expectant_ticks = timers::ticks(2e-6);
  shared_.quiet_ticks = timers::ticks(20e-6);
  for (auto& worker : shared_.workers) {
    worker->set_event_source(source);
    // Helper fibers go on while the worker's own thread computes; only first in, first out. A worker with an attendant
    // admits threads, and no task comes there or goes any more (docs/design/load-balance.md).
    if (progress_threads_ && shared_.balancer == nullptr && worker->queue().fifo())
      worker->door().have(std::make_unique<Attendant>(*worker));
  }
}

std::vector<std::string> NodeScheduler::bindings() const {
  std::vector<std::string> lines;
  for (int i = 0; i < options_.workers; ++i) {
    if (!topology_) {
      lines.push_back(fmt::format("worker {}: not bound", i));
      continue;
    }
    lines.push_back(fmt::format("worker {}: {}{}", i, describe(places_of(i)),
                                workers_share() ? ", shared with other workers" : ""));
  }
  return lines;
}

bool NodeScheduler::workers_share() const {
  const std::size_t places =
      options_.cores_per_worker == 1 ? topology_->places.size() : static_cast<std::size_t>(topology_->cores);
  return static_cast<std::size_t>(cores_of_workers()) > places;
}

std::vector<std::string> NodeScheduler::progress_bindings() const {
  std::vector<std::string> lines;
  if (!progress_threads_) return lines;
  if (progress_ != Progress::kCore) {
    lines.push_back(fmt::format("progress thread: not bound, sleeps while cores are at it{}",
                                options_.progress == Progress::kCore
                                    ? "; no core of its own: there are too few beside those of the workers"
                                    : ""));
  }
  for (std::size_t i = 0; i < progress_places_.size(); ++i) {
    const Place& place = progress_places_[i];
    const bool near = place.numa_node == options_.progress_numa_node;
    lines.push_back(topology_ ? fmt::format("progress thread {}: {}{}", i, describe({&place, 1}),
                                            near ? ", that of the network's device" : "")
                              : fmt::format("progress thread {}: not bound", i));
  }
  return lines;
}

std::uint64_t NodeScheduler::switches() const {
  std::uint64_t sum = 0;
  for (const auto& worker : shared_.workers) sum += worker->switches();
  return sum;
}

std::uint64_t NodeScheduler::activity() const {
  std::uint64_t sum = shared_.polls.interruptions();
  for (const auto& worker : shared_.workers) sum += worker->activity();
  return sum;
}

}  // namespace tmpi::sched
