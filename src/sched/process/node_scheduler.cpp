#include "sched/process/node_scheduler.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

#include "base/numa.hpp"
#include "sched/file_calls.hpp"
#include "sched/machine/signal_stack.hpp"
#include "sched/metering.hpp"
#include "sched/offload.hpp"
#include "sched/policies.hpp"
#include "timers/clock.hpp"

namespace tmpi::sched {

Result<void> NodeScheduler::set_up() {
  if (options_.workers < 1 || options_.tasks < 1) {
    return Failure{fmt::format("cannot run {} tasks on {} workers: both must be at least 1", options_.tasks,
                               options_.workers)};
  }
  timers::begin_calibration();  // goes on while the rest is set up
  use_file_way(options_.file_io);
  if (auto room = tasks_.add(stacks_for(options_.tasks, options_.stack_ends)); !room) return room;
  if (options_.bind) {
    auto topology = Topology::discover();
    if (!topology) return topology.failure();
    topology_ = *std::move(topology);
  }
  choose_progress();
  shared_.oversubscribed =
      cores_of_workers() + (progress_ == Progress::kCore ? options_.progress_cores : 0) > cpu_limit();
  shared_.stack_size = tasks_.stack_size();
  shared_.exec_stacks = options_.exec_stacks;
  if (auto made = make_workers(); !made) return made;
  timers::calibrate();
  if (!shared_.oversubscribed) shared_.spin_ticks = timers::ticks(options_.spin_microseconds * 1e-6);
  return {};
}

// A core that spins beside workers which have to share the others would take more than it gives: where cores are
// short the thread sleeps.
void NodeScheduler::choose_progress() {
  progress_ = options_.progress;
  if (progress_ == Progress::kAuto) progress_ = Progress::kPoll;
  if (progress_ != Progress::kCore) return;
  if (topology_) {
    progress_places_ =
        topology_->set_aside(options_.progress_cores, options_.progress_numa_node, cores_of_workers());
  } else if (cores_of_workers() + options_.progress_cores <= cpu_limit()) {
    progress_places_.resize(static_cast<std::size_t>(options_.progress_cores));
  }
  if (progress_places_.empty()) progress_ = Progress::kThread;
}

void NodeScheduler::start_progress() {
  if (!progress_threads_) return;
  try {
    if (progress_ == Progress::kCore)
      progress_threads_->start_spinning(progress_places_, topology_.has_value());
    else
      progress_threads_->start_sleeping();
  } catch (const std::system_error& error) {
    end_at_limit(
        fmt::format("cannot start a progress thread: {}. Raise the limits on threads (ulimit -u) and "
                    "memory (ulimit -v), or pass --progress poll",
                    error.what()));
  }
}

Result<void> NodeScheduler::make_workers() {
  for (int i = 0; i < options_.workers; ++i) {
    auto policy = make_policy(options_.policy, i, options_.tasks + kMostAdded);
    if (!policy) return policy.failure();
    shared_.workers.push_back(std::make_unique<Worker>(shared_, i));
    shared_.workers.back()->use(*std::move(policy));
    shared_.parkings.push_back(&shared_.workers.back()->parking());
    shared_.loops.push_back(shared_.workers.back().get());
  }
  shared_.parking.all = shared_.parkings;
  return balance();
}

// Those that each worker's memory comes from; nothing if all have the same, or nobody knows.
std::vector<int> NodeScheduler::numa_nodes() const {
  std::vector<int> nodes = options_.numa_nodes;
  const bool known = topology_ && topology_->several_numa_nodes();
  for (int i = 0; known && i < options_.workers; ++i)
    nodes.push_back(numa::nearest_with_memory(places_of(i).front().numa_node));
  const bool several = std::ranges::adjacent_find(nodes, std::ranges::not_equal_to()) != nodes.end();
  return several ? nodes : std::vector<int>();
}

Result<void> NodeScheduler::balance() {
  const Result<BalanceChoice> chosen = parse_balance(options_.balance);
  if (!chosen) return chosen.failure();
  if (chosen->kind == BalanceKind::kNone || options_.workers == 1) return {};
  const Result<PolicyChoice> order = parse_policy(options_.policy);
  if (!order || order->kind != PolicyKind::kFifo) {
    return Failure{
        fmt::format("ranks cannot be balanced over cores ({}) when they run in another order than fifo ({})",
                    options_.balance, options_.policy)};
  }
  tasks_.let_move();
  shared_.balancer =
      std::make_unique<Balancer>(*chosen, shared_.movers, tasks_, numa_nodes(), options_.move_memory);
  for (auto& worker : shared_.workers) worker->have_mover(*shared_.balancer);
  return {};
}

NodeScheduler::~NodeScheduler() {
  // A thread of the pool may still be about to wake the worker whose task it has made ready, which has long finished.
  await_offloaded();
  for (int i = 0; i < tasks(); ++i) {
    Task& task = tasks_.at(i);
    if (task.entry != nullptr && task.context != nullptr) ult::release(task);
  }
  forget(*this);
}

void NodeScheduler::run_worker(int index) {
  const SignalStack signal_stack;
  if (topology_) pin_to(places_of(index));  // refused: works unpinned
  shared_.workers[static_cast<std::size_t>(index)]->run();
}

void NodeScheduler::run() {
  const SavedAffinity affinity;
  set_offload_affinity(std::make_shared<const Affinity>(affinity));
  start_progress();
  const int first = options_.owns_calling_thread ? 1 : 0;
  std::vector<std::thread> threads;
  for (int i = first; i < options_.workers; ++i) {
    try {
      threads.emplace_back([this, i] { run_worker(i); });
    } catch (const std::system_error& error) {
      end_at_limit(
          fmt::format("cannot start worker {} of {}: {}. Use fewer workers, or raise the limits on threads "
                      "(ulimit -u) and memory (ulimit -v)",
                      i, options_.workers, error.what()));
    }
    // The kernel keeps 15 letters.
    const std::string name = fmt::format("{:.11}/{}", options_.thread_name, i % 1000);
    pthread_setname_np(threads.back().native_handle(), name.c_str());
  }
  if (first == 1) run_worker(0);
  for (std::thread& thread : threads) thread.join();
  for (auto& worker : shared_.workers) {
    if (Attending* const attendant = worker->door().attendant()) attendant->stop();
  }
  if (progress_threads_) progress_threads_->stop();
  set_offload_affinity(nullptr);
}

}  // namespace tmpi::sched
