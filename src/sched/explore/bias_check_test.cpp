// Bias (base/bias.hpp), checked: every order of steps of a favoured thread and of others that claim, with the stores of each
// seen late. With any of the steps of BiasStep left out two of them have to be found inside together.
#include <doctest/doctest.h>

#include <new>

#include "base/bias.hpp"
#include "sched/explore/explorer.hpp"
#include "sched/explore/lock_check.hpp"

namespace tmpi::sched::check {
namespace {

/// With `kHasBarrier` false the system refuses the barrier, as under a filter on system calls.
template <bool kHasBarrier, BiasStep... kOmitted>
struct BiasChecked : LockSystem<kHasBarrier> {
  static constexpr bool omits(BiasStep step) noexcept { return ((step == kOmitted) || ...); }
};

/// What is shared by those who claim and the favoured side that was turned away: as the matchers' lock.
template <class S>
struct Shared {
  BasicBias<S> bias;
  Atomic<int> lock{0};
  Section section;
  int entered = 0, ended = 0;  // by the favoured side; threads

  void use_locked() {
    int free = 0;
    for (; !lock.compare_exchange_strong(free, 1, std::memory_order_acquire); free = 0)
      detail::step(detail::Kind::kYield, nullptr);
    section.use();
    lock.store(0, std::memory_order_release);
  }
  void use_favoured() {
    if (!bias.enter()) return use_locked();
    ++entered;
    section.use();
    bias.leave();
  }
  void use_claimed() {
    bias.claim();
    use_locked();
    bias.release();
  }
};

template <class S, int kClaimers, int kTimes>
void shared_by() {
  auto& shared = *new (memory(sizeof(Shared<S>))) Shared<S>;
  name(&shared.bias, "the bias");
  name(&shared.lock, "the lock");
  name(&shared.section.step, "what is shared");
  thread(
      "favoured",
      [](void* argument) {
        auto& s = *static_cast<Shared<S>*>(argument);
        s.use_favoured();
        s.use_favoured();
        ++s.ended;
      },
      &shared);
  for (int i = 0; i < kClaimers; ++i)
    thread(
        i == 0 ? "claimer" : "other claimer",
        [](void* argument) {
          auto& s = *static_cast<Shared<S>*>(argument);
          for (int times = 0; times < kTimes; ++times) s.use_claimed();
          ++s.ended;
        },
        &shared);
}

// Whoever comes when nobody claims is let in; after a barrier that was refused nobody is.
template <class S, bool kLetIn>
void comes_last() {
  auto& shared = *new (memory(sizeof(Shared<S>))) Shared<S>;
  thread(
      "claimer",
      [](void* argument) {
        auto& s = *static_cast<Shared<S>*>(argument);
        s.use_claimed();
        ++s.ended;
      },
      &shared);
  thread(
      "favoured",
      [](void* argument) {
        auto& s = *static_cast<Shared<S>*>(argument);
        await([](void* all) { return static_cast<Shared<S>*>(all)->ended == 1; }, argument);
        s.use_favoured();
        require(s.entered == (kLetIn ? 1 : 0), "let in when it is not to be, or turned away for ever");
      },
      &shared);
}

TEST_CASE("bias: nobody is inside together, in any order") {
  check_all(&shared_by<BiasChecked<true>, 1, 2>);
  check_all(&shared_by<BiasChecked<true>, 2, 1>);
  check_torn(&shared_by<BiasChecked<true, BiasStep::kBarrier>, 1, 1>);
  check_torn(&shared_by<BiasChecked<true, BiasStep::kAwaitLeave>, 1, 1>);
}

TEST_CASE("bias: nor where the barrier is refused") {
  check_all(&shared_by<BiasChecked<false>, 1, 2>);
  check_all(&shared_by<BiasChecked<false>, 2, 1>);
  check_torn(&shared_by<BiasChecked<false, BiasStep::kRestSurely>, 1, 1>);
  check_torn(&shared_by<BiasChecked<false, BiasStep::kKeepClaim>, 1, 2>);
}

TEST_CASE("bias: who comes when nobody claims is let in, but for where the barrier is refused") {
  check_all(&comes_last<BiasChecked<true>, true>);
  check_all(&comes_last<BiasChecked<false>, false>);
}

}  // namespace
}  // namespace tmpi::sched::check
