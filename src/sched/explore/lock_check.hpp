// What the checks of Bias and OwnedLock share (explorer.hpp): the machine as they need it, something that nobody may be inside
// of together, and what is to come out. For tests.
#pragma once

#include <doctest/doctest.h>

#include "sched/explore/explorer.hpp"

namespace tmpi::sched::check {

/// With `kHasBarrier` false the system refuses the barrier.
template <bool kHasBarrier>
struct LockSystem {
  template <class T>
  using Atomic = check::Atomic<T>;
  static constexpr int kLooks = 0;
  static bool process_barrier() noexcept {
    if (kHasBarrier) detail::process_barrier();
    return kHasBarrier;
  }
  static void relax() noexcept {}
  static void rest() noexcept { detail::step(detail::Kind::kYield, nullptr); }
  static void rest_surely() noexcept { detail::process_barrier(); }
};

/// What the lock is for.
struct Section {
  Atomic<int> step{0};  // somebody else may go on in the middle
  bool inside = false;

  void use() {
    require(!inside, "two are inside together");
    inside = true;
    (void)step.load(std::memory_order_relaxed);
    inside = false;
  }
};

/// Nothing is wrong in any order.
inline void check_all(void (*set_up)()) {
  const Result result = explore(set_up);
  MESSAGE(result.states << " states, " << result.steps << " steps");
  CHECK_MESSAGE(result.ok, result.problem);
  CHECK(result.complete);
  CHECK(result.ends > 0);
}

/// Two are inside of the Section together in some order.
inline void check_torn(void (*set_up)()) {
  const Result result = explore(set_up);
  CHECK_FALSE(result.ok);
  CHECK(result.problem.find("two are inside together") == 0);
}

}  // namespace tmpi::sched::check
