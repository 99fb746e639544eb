#include "sched/scheduler.hpp"
#include "base/mutex.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <thread>

#include "base/numa.hpp"
#include "sched/file_calls.hpp"
#include "sched/loop/task_table.hpp"
#include "sched/machine/signal_stack.hpp"
#include "sched/machine/topology.hpp"
#include "sched/metering.hpp"
#include "sched/offload.hpp"
#include "sched/policies.hpp"
#include "sched/progress/progress_threads.hpp"
#include "sched/slot.hpp"
#include "sched/threads/attendant.hpp"
#include "sched/worker/worker.hpp"
#include "timers/clock.hpp"

namespace tmpi::sched {
namespace detail {

bool g_one_worker = false, g_single_worker = false;
Bias* g_bias = nullptr;
bool g_tasks_move = false;
bool g_plans = false;
bool g_counts_messages = false;

}  // namespace detail

namespace {

Scheduler* g_scheduler = nullptr;

LimitHook g_limit_hook = nullptr;

/// A limit of the system: nothing is wrong with the runtime.
[[noreturn]] void end_at_limit(const std::string& text) {
  if (g_limit_hook != nullptr) g_limit_hook(text);
  std::fprintf(stderr, "tmpi: %s\n", text.c_str());
  _exit(1);
}

/// A broken promise of the runtime itself, not of the user.
[[noreturn]] void fatal(const std::string& text) {
  std::fprintf(stderr, "tmpi: scheduler: %s\n", text.c_str());
  std::abort();
}

class NodeScheduler final : public Scheduler {
 public:
  explicit NodeScheduler(const Options& options) : options_(options) {}
  ~NodeScheduler() override;
  Result<void> set_up();
  const Balancer* balancer() const noexcept { return shared_.balancer.get(); }

  Task& spawn(int worker, void (*entry)(void*), void* arg, void* owner) override;
  Task& adopt_current_thread(void* owner) override;
  void run() override;
  void finish_current() override;
  void set_switch_hook(SwitchHook hook) override;
  void set_event_source(const EventSource& source) override;
  void meter_switches() noexcept override;
  void observe_switches(SwitchObserver observer) override;
  bool set_drain_hook(DrainHook hook) override;
  void set_stall_hook(StallHook hook) override { shared_.stall.set(hook); }
  void set_move_hooks(const MoveHooks& hooks) override {
    if (shared_.balancer != nullptr) shared_.balancer->set_hooks(hooks);
  }
  bool is_open(int worker) const noexcept override {
    return !shared_.movers.empty() && shared_.movers[static_cast<std::size_t>(worker)]->is_open();
  }
  std::uint64_t moves_to(int worker) const override {
    return shared_.movers.empty() ? 0 : shared_.movers[static_cast<std::size_t>(worker)]->came();
  }
  void set_memory_hook(MemoryHook hook) override {
    if (shared_.balancer == nullptr) return;
    if (Follower* follower = shared_.balancer->follower()) follower->set_hook(hook);
  }
  void set_interrupt_hook(InterruptHook hook) override { shared_.interrupt_hook = hook; }
  void set_poll_hook(PollHook hook, double period) override {
    shared_.polls.set(hook, period, *this, options_.tasks + kMostAdded);
  }
  Result<int> add(std::span<const NewTask> tasks) override;
  void start(const Task& task) noexcept override { make_ready(const_cast<Task&>(task)); }
  void drop(const Task& task) noexcept override;
  int residents(int worker) const override {
    return shared_.workers[static_cast<std::size_t>(worker)]->residents();
  }
  void admit_threads() noexcept override;
  void wake_if_parked(int worker) noexcept override {
    shared_.parkings[static_cast<std::size_t>(worker)]->wake_if_parked();
  }
  AssistPoint& assist_point(int worker) noexcept override {
    return shared_.workers[static_cast<std::size_t>(worker)]->idling().assist_point();
  }
  int workers() const override { return options_.workers; }
  int worker_of(const Task& task) const override { return task.worker->index(); }
  bool oversubscribed() const override { return shared_.oversubscribed; }
  std::vector<std::string> bindings() const override;
  bool progress_spins() const override { return progress_threads_ && progress_ == Progress::kCore; }
  std::vector<std::string> progress_bindings() const override;
  int tasks() const override { return spawned_.load(std::memory_order_acquire); }
  const Task& task(int id) const override { return tasks_.at(id); }
  const Task* guard_page_owner(const void* address) const override;
  const Task* overflowed(const void* address, const void* stack_pointer) const override;
  std::size_t stack_size() const override { return tasks_.stack_size(); }
  std::size_t stack_high_water(const Task& task) const override;
  std::uint64_t held(int worker) const override {
    return shared_.workers[static_cast<std::size_t>(worker)]->held();
  }
  int ready(int worker) const override { return shared_.workers[static_cast<std::size_t>(worker)]->ready(); }
  std::uint64_t switches() const override;
  std::uint64_t activity() const override;
  Slot slot_of(int worker) noexcept {
    Worker& one = *shared_.workers[static_cast<std::size_t>(worker)];
    return {one.switches(), one.thread(), one.ready() > 0 || !one.parking().empty()};
  }

 private:
  Result<void> make_workers();
  void choose_progress();
  void start_progress();
  Result<void> balance();
  std::vector<int> numa_nodes() const;
  Task& new_task(void* owner);
  void settle(Task& task, int worker, void (*entry)(void*), void* argument);
  ult::StackOptions stacks_for(int tasks) const;
  bool extend_by(int tasks) noexcept;
  void run_worker(int index);

  bool workers_share() const;
  int cores_of_workers() const noexcept { return options_.workers * options_.cores_per_worker; }
  std::span<const Place> places_of(int worker) const {
    return topology_->places_of(worker, options_.cores_per_worker);
  }

  const Options options_;
  std::optional<Topology> topology_;
  Progress progress_ = Progress::kPoll;  // as it is done
  std::vector<Place> progress_places_;   // kCore
  Bias bias_;
  std::optional<ProgressThreads> progress_threads_;
  TaskTable tasks_;
  Mutex adding_;
  std::atomic<int> reserved_{0};  // ids handed out
  std::atomic<int> spawned_{0};   // tasks [0, spawned_) are complete enough for state dumps
  Shared shared_;
};

Result<void> NodeScheduler::set_up() {
  if (options_.workers < 1 || options_.tasks < 1) {
    return Failure{fmt::format("cannot run {} tasks on {} workers: both must be at least 1", options_.tasks,
                               options_.workers)};
  }
  timers::begin_calibration();  // goes on while the rest is set up
  use_file_way(options_.file_io);
  if (auto room = tasks_.add(stacks_for(options_.tasks)); !room) return room;
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
  if (g_scheduler == this) {
    metering::reset();
    g_scheduler = nullptr;
    detail::g_one_worker = detail::g_single_worker = false;
    detail::g_bias = nullptr;
    detail::g_tasks_move = false;
    detail::g_plans = false;
    detail::g_counts_messages = false;
  }
}

Task& NodeScheduler::new_task(void* owner) {
  const int id = reserved_.fetch_add(1, std::memory_order_relaxed);
  if (id >= options_.tasks)
    fatal(fmt::format("more than the {} tasks announced to create()", options_.tasks));
  Task& task = tasks_.at(id);
  task.owner = owner;
  return task;
}

Task& NodeScheduler::spawn(int worker, void (*entry)(void*), void* arg, void* owner) {
  Task& task = new_task(owner);
  shared_.unfinished.fetch_add(1, std::memory_order_relaxed);
  settle(task, worker, entry, arg);
  spawned_.fetch_add(1, std::memory_order_release);
  make_ready(task);
  return task;
}

void NodeScheduler::settle(Task& task, int worker, void (*entry)(void*), void* argument) {
  task.entry = entry;
  task.argument = argument;
  task.stack = tasks_.stack_of(static_cast<int>(task.id));
  task.worker = shared_.workers[static_cast<std::size_t>(worker)].get();
  task.home = static_cast<std::uint16_t>(worker);
  task.worker->settle();
}

ult::StackOptions NodeScheduler::stacks_for(int tasks) const {
  return {.count = tasks,
          .size = options_.stack_size,
          .least = options_.least_stack_size,
          .wide_guards = true,
          .executable = options_.exec_stacks};
}

// Workers leave when there are no unfinished tasks, and do not come back. acq_rel as everybody who counts there.
bool NodeScheduler::extend_by(int tasks) noexcept {
  int unfinished = shared_.unfinished.load(std::memory_order_acquire);
  while (unfinished > 0) {
    if (shared_.unfinished.compare_exchange_weak(unfinished, unfinished + tasks, std::memory_order_acq_rel))
      return true;
  }
  return false;
}

Result<int> NodeScheduler::add(std::span<const NewTask> tasks) {
  const MutexLock lock(adding_);
  const int first = tasks_.capacity(), count = static_cast<int>(tasks.size());
  if (this->tasks() != first)
    return Failure{"ranks cannot be added before all that were announced are there"};
  if (first - options_.tasks + count > kMostAdded) {
    return Failure{fmt::format(
        "the node process has room for {} ranks beyond those that it began with, of which {} are taken",
        kMostAdded, first - options_.tasks)};
  }
  if (auto room = tasks_.add(stacks_for(count)); !room) return room.failure();
  for (int i = 0; i < count; ++i) {
    const NewTask& wanted = tasks[static_cast<std::size_t>(i)];
    Task& task = tasks_.at(first + i);
    task.owner = wanted.owner;
    settle(task, wanted.worker, wanted.entry, wanted.argument);
  }
  const bool extended = extend_by(count);
  for (int i = 0; i < count && !extended; ++i) tasks_.at(first + i).set_state(TaskState::kFinished);
  reserved_.fetch_add(count, std::memory_order_relaxed);
  spawned_.fetch_add(count, std::memory_order_release);
  if (!extended) return Failure{"all ranks of the node process have ended"};
  return first;
}

void NodeScheduler::drop(const Task& task) noexcept {
  const_cast<Task&>(task).set_state(TaskState::kFinished);
  task.worker->unsettle();
  shared_.unfinished.fetch_sub(1, std::memory_order_acq_rel);
  // Even if others have not finished: whoever sleeps last asks whether anybody can go on, and this one no longer can.
  for (Parking* parking : shared_.parkings) parking->wake();
}

Task& NodeScheduler::adopt_current_thread(void* owner) {
  if (options_.workers != 1) fatal("a thread can be adopted as the only worker, not as one of several");
  Task& task = new_task(owner);
  shared_.unfinished.fetch_add(1, std::memory_order_relaxed);
  spawned_.fetch_add(1, std::memory_order_release);
  shared_.workers[0]->adopt(task);
  return task;
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

void NodeScheduler::finish_current() {
  inside_worker.assume();
  Worker* worker = this_worker();
  if (worker == nullptr || worker->running() == nullptr) fatal("finish_current() outside of a task");
  if (worker->running()->entry == nullptr) fatal("finish_current() in an adopted thread: it ends by exit()");
  worker->finish();
}

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

namespace {

std::string describe(std::span<const Place> places) {
  const auto list = [&](int Place::*number) {
    std::string text;
    for (const Place& place : places) text += fmt::format("{}{}", text.empty() ? "" : ", ", place.*number);
    return text;
  };
  const char* const several = places.size() > 1 ? "s" : "";
  return fmt::format("core{} {} (PU{} {}), NUMA node {}", several, list(&Place::core), several,
                     list(&Place::pu), places.front().numa_node);
}

}  // namespace

bool NodeScheduler::workers_share() const {
  const std::size_t places =
      options_.cores_per_worker == 1 ? topology_->places.size() : static_cast<std::size_t>(topology_->cores);
  return static_cast<std::size_t>(cores_of_workers()) > places;
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

const Task* NodeScheduler::guard_page_owner(const void* address) const {
  if (const Task* owner = tasks_.guard_page_owner(address)) return owner->entry != nullptr ? owner : nullptr;
  for (const auto& worker : shared_.workers) {
    if (const Task* helper = worker->helpers().guard_page_owner(address)) return helper;
  }
  return nullptr;
}

const Task* NodeScheduler::overflowed(const void* address, const void* stack_pointer) const {
  constexpr std::size_t kRedZone = 128;  // x86-64: a function may use so much below the stack pointer
  constexpr std::size_t kLargestFrame = std::size_t{1} << 32;  // beyond, the stack pointer is no such thing
  const Task* self = current();
  if (self == nullptr || self->stack.base == nullptr || self->kind == TaskKind::kThread) return nullptr;
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const auto base = reinterpret_cast<std::uintptr_t>(self->stack.base);
  // The guard above its stack is another's.
  if (at < base && guard_page_owner(address) != nullptr) return self;
  return at < base && base - at <= kLargestFrame &&
                 at + kRedZone >= reinterpret_cast<std::uintptr_t>(stack_pointer)
             ? self
             : nullptr;
}

std::size_t NodeScheduler::stack_high_water(const Task& task) const {
  return task.entry == nullptr ? 0 : tasks_.stack_high_water(task);  // an adopted thread's stack is not ours
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

}  // namespace

Result<std::unique_ptr<Scheduler>> Scheduler::create(const Options& options) {
  if (g_scheduler != nullptr) return Failure{"this process has a scheduler already"};
  auto scheduler = std::make_unique<NodeScheduler>(options);
  if (auto ready = scheduler->set_up(); !ready) return ready.failure();
  g_scheduler = scheduler.get();
  detail::g_one_worker = detail::g_single_worker = options.workers == 1;
  detail::g_tasks_move = scheduler->balancer() != nullptr;
  detail::g_plans =
      detail::g_tasks_move && (scheduler->balancer()->plans() || scheduler->balancer()->steals());
  detail::g_counts_messages = detail::g_tasks_move && scheduler->balancer()->counts_messages();
  return std::unique_ptr<Scheduler>(std::move(scheduler));
}

Scheduler* scheduler() noexcept {
  return g_scheduler;
}

Slot slot_of(int worker) noexcept {
  return static_cast<NodeScheduler*>(g_scheduler)->slot_of(worker);
}

const char* to_string(TaskState state) noexcept {
  switch (state) {
    case TaskState::kInit:
      return "new";
    case TaskState::kRunning:
      return "running";
    case TaskState::kReady:
      return "ready";
    case TaskState::kBlocked:
      return "blocked";
    case TaskState::kFinished:
      return "finished";
  }
  return "?";
}

void end_at_limits_by(LimitHook hook) noexcept {
  g_limit_hook = hook;
}

}  // namespace tmpi::sched
