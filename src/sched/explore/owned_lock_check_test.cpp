// OwnedLock (base/owned_lock.hpp), checked: every order of steps of an owner and of others that come, with the stores of each
// seen late. With any of the steps of RevokeStep left out two of them have to be found inside together.
#include <doctest/doctest.h>

#include <new>

#include "base/owned_lock.hpp"
#include "sched/explore/explorer.hpp"
#include "sched/explore/lock_check.hpp"

namespace tmpi::sched::check {
namespace {

/// With `kHasBarrier` false the system refuses the barrier from the first revocation on.
template <bool kHasBarrier, RevokeStep... kOmitted>
struct OwnedLockChecked : LockSystem<kHasBarrier> {
  static constexpr std::uint16_t kFirstRow = 0, kLongestRow = 0;
  static constexpr bool omits(RevokeStep step) noexcept { return ((step == kOmitted) || ...); }
  static bool has_process_barrier() noexcept { return true; }
};

template <class S>
struct Shared {
  using Lock = BasicOwnedLock<S>;
  Lock lock;
  Section section;
  int owned = 0, ended = 0;  // times that the lock was held by its owner; threads

  void use(int worker) {
    const typename Lock::Hold hold = lock.lock(worker);
    owned += hold == Lock::Hold::kOwner;
    section.use();
    lock.unlock(hold);
  }
};

template <class S>
Shared<S>& make_shared_state() {
  auto& shared = *new (memory(sizeof(Shared<S>))) Shared<S>;
  name(&shared.lock, "the lock");
  name(&shared.section.step, "what is shared");
  return shared;
}

// A thread of worker kWorker, -1: of none, that takes the lock kTimes.
template <int kWorker, int kTimes, class S>
void taker(const char* text, Shared<S>& shared) {
  thread(
      text,
      [](void* argument) {
        auto& s = *static_cast<Shared<S>*>(argument);
        for (int times = 0; times < kTimes; ++times) s.use(kWorker);
        ++s.ended;
      },
      &shared);
}

// Worker 0 owns the lock from its third time on, or takes it back; others come meanwhile.
template <class S, int kOthers, int kTimes>
void shared_by() {
  Shared<S>& shared = make_shared_state<S>();
  taker<0, 4>("owner", shared);
  taker<-1, kTimes>("no worker", shared);
  if (kOthers > 1) taker<1, kTimes>("another worker", shared);
}

// Two workers, either of which may come to own the lock while the other one has not seen yet that it does not any more.
template <class S>
void shared_by_two_owners() {
  Shared<S>& shared = make_shared_state<S>();
  taker<0, 4>("worker 0", shared);
  taker<1, 5>("worker 1", shared);
}

// Who has come in a row owns it; not after somebody else has been there, and a row later again.
template <class S>
void one_after_the_other() {
  Shared<S>& shared = make_shared_state<S>();
  thread(
      "one after the other",
      [](void* argument) {
        auto& s = *static_cast<Shared<S>*>(argument);
        const auto owned_by = [&](int worker, int times) {
          s.owned = 0;
          for (int i = 0; i < times; ++i) s.use(worker);
          return s.owned;
        };
        require(owned_by(0, 4) == 2, "owned from the third time on");
        require(owned_by(-1, 4) == 0, "a thread of no worker never owns it");
        require(owned_by(0, 3) == 1, "owned again");
        require(owned_by(1, 5) == 0, "owned by another worker before the former owner has come again");
        require(owned_by(0, 1) == 0, "not owned when it comes again");
        require(owned_by(1, 3) == 1, "owned by another worker");
        ++s.ended;
      },
      &shared);
}

TEST_CASE("owned lock: nobody is inside together, in any order") {
  check_all(&shared_by<OwnedLockChecked<true>, 1, 2>);
  check_all(&shared_by<OwnedLockChecked<true>, 2, 1>);
  check_torn(&shared_by<OwnedLockChecked<true, RevokeStep::kBarrier>, 1, 1>);
  check_torn(&shared_by<OwnedLockChecked<true, RevokeStep::kAwaitLeave>, 1, 1>);
}

TEST_CASE("owned lock: a former owner that comes late does not disturb the next one") {
  check_all(&shared_by_two_owners<OwnedLockChecked<true>>);
  check_torn(&shared_by_two_owners<OwnedLockChecked<true, RevokeStep::kAwaitReturn>>);
}

TEST_CASE("owned lock: nor where the barrier is refused") {
  check_all(&shared_by<OwnedLockChecked<false>, 1, 2>);
  check_torn(&shared_by<OwnedLockChecked<false, RevokeStep::kRestSurely>, 1, 1>);
}

TEST_CASE("owned lock: who comes in a row owns it until somebody else comes") {
  check_all(&one_after_the_other<OwnedLockChecked<true>>);
}

}  // namespace
}  // namespace tmpi::sched::check
