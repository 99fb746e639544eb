#include "sched/scheduler.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "sched/metering.hpp"
#include "sched/process/node_scheduler.hpp"

namespace tmpi::sched {
namespace detail {

bool g_one_worker = false, g_single_worker = false;
Bias* g_bias = nullptr;
bool g_tasks_move = false;
bool g_plans = false;
bool g_counts_messages = false;

}  // namespace detail

namespace {

NodeScheduler* g_scheduler = nullptr;

LimitHook g_limit_hook = nullptr;

}  // namespace

void end_at_limit(const std::string& text) {
  if (g_limit_hook != nullptr) g_limit_hook(text);
  std::fprintf(stderr, "tmpi: %s\n", text.c_str());
  _exit(1);
}

void fatal(const std::string& text) {
  std::fprintf(stderr, "tmpi: scheduler: %s\n", text.c_str());
  std::abort();
}

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

void forget(const NodeScheduler& scheduler) noexcept {
  if (g_scheduler != &scheduler) return;
  metering::reset();
  g_scheduler = nullptr;
  detail::g_one_worker = detail::g_single_worker = false;
  detail::g_bias = nullptr;
  detail::g_tasks_move = false;
  detail::g_plans = false;
  detail::g_counts_messages = false;
}

Scheduler* scheduler() noexcept {
  return g_scheduler;
}

Slot slot_of(int worker) noexcept {
  return g_scheduler->slot_of(worker);
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
