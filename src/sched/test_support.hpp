// Helpers of sched's unit tests: a scheduler that must come up, tasks from lambdas. Not part of the library.
#pragma once

#include <doctest/doctest.h>

#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include "sched/scheduler.hpp"
#include "sched/waiter.hpp"

namespace tmpi::sched::test {

#if defined(TMPI_ASAN) || defined(TMPI_TSAN)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

/// A number of repetitions, fewer under a sanitizer.
constexpr int scaled(int full) {
  return kSanitized ? (full + 19) / 20 : full;
}

/// A subscript.
constexpr std::size_t index(int i) {
  return static_cast<std::size_t>(i);
}

/// A scheduler and the functions its tasks run.
class Job {
 public:
  explicit Job(Options options) {
    auto made = Scheduler::create(options);
    REQUIRE_MESSAGE(made, (made ? "" : made.message()));
    scheduler_ = *std::move(made);
  }
  Task& spawn(int worker, std::function<void()> body) {
    bodies_.push_back(std::move(body));
    return scheduler_->spawn(
        worker, [](void* body) { (*static_cast<std::function<void()>*>(body))(); }, &bodies_.back(), nullptr);
  }
  void run() { scheduler_->run(); }
  Scheduler* operator->() const { return scheduler_.get(); }

 private:
  std::unique_ptr<Scheduler> scheduler_;
  std::deque<std::function<void()>> bodies_;
};

/// A one-shot event between two tasks, as the MPI layer builds it: pending, done, or the waiter to tell.
class Event {
 public:
  void complete() {
    const auto old = state_.exchange(kDone, std::memory_order_acq_rel);
    if (old != kPending) reinterpret_cast<Waiter*>(old)->complete();
  }
  bool attach(Waiter& waiter) {
    std::uintptr_t expected = kPending;
    return state_.compare_exchange_strong(expected, reinterpret_cast<std::uintptr_t>(&waiter),
                                          std::memory_order_acq_rel);
  }
  bool detach(Waiter& waiter) {
    auto expected = reinterpret_cast<std::uintptr_t>(&waiter);
    return state_.compare_exchange_strong(expected, kPending, std::memory_order_acq_rel);
  }
  bool done() const { return state_.load(std::memory_order_acquire) == kDone; }
  void wait() {
    Waiter waiter(1);
    if (!attach(waiter)) return;
    waiter.wait();
  }
  void reset() { state_.store(kPending, std::memory_order_release); }

 private:
  static constexpr std::uintptr_t kPending = 0;
  static constexpr std::uintptr_t kDone = 1;
  std::atomic<std::uintptr_t> state_{kPending};
};

}  // namespace tmpi::sched::test
