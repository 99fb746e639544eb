// OwnedLock: a spin lock that costs its owner no atomic instruction: a worker that has taken it many times in a row, while
// nobody else did, owns it until somebody else comes (biased locking with revocation: Russell and Detlefs, OOPSLA '06). An
// atomic instruction waits until everything that its thread has stored before is in the cache; a small message inside of a
// worker has little else to wait for. Written for any system, as base/bias.hpp is: checked by sched/owned_lock_check_test.cpp.
#pragma once

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/bias.hpp"
#include "base/platform.hpp"
#include "base/process_barrier.hpp"

namespace tmpi {

/// Steps of revoking that look as if one could do without: the check leaves each of them out in turn.
enum class RevokeStep {
  kBarrier,      ///< on the owner's thread, between the revocation and the look whether it is inside
  kRestSurely,   ///< ... and what takes its place where there is none
  kAwaitLeave,   ///< an owner that is inside is waited for
  kAwaitReturn,  ///< nobody else owns the lock before the former owner has seen that it does not any more
};

/// What OwnedLock needs of the machine.
struct OwnedLockSystem : BiasSystem {
  /// Times in a row until a worker owns the lock, at first and at most: eight times as many after each revocation. Most
  /// locks are one worker's all the time. Revoking interrupts every core that runs a thread of the process; what the owner
  /// saves in the longest row is many times as much.
  static constexpr std::uint16_t kFirstRow = 64, kLongestRow = 16384;
  static constexpr bool omits(RevokeStep) noexcept { return false; }
  static bool has_process_barrier() noexcept { return process_barrier_enabled(); }
  /// Who holds the lock may have lost its core to this thread.
  static void rest() noexcept { sched_yield(); }
};

template <class S>
class BasicOwnedLock {
 public:
  BasicOwnedLock() = default;
  BasicOwnedLock(const BasicOwnedLock&) = delete;
  BasicOwnedLock& operator=(const BasicOwnedLock&) = delete;

  /// How the lock is held, for unlock().
  enum class Hold : std::uint8_t { kWord, kOwner };

  /// `worker`: of the calling thread, -1 for a thread of none. Threads of one worker come one at a time, and hand on what
  /// they have written: never two at once with the same number.
  [[nodiscard]] Hold lock(int worker) noexcept {
    if (owner_.load(std::memory_order_relaxed) == worker && worker >= 0) [[likely]] {
      inside_.store(true, std::memory_order_relaxed);
      quick_barrier();
      // acquire: nothing of what follows comes before it.
      if (owner_.load(std::memory_order_acquire) == worker) [[likely]]
        return Hold::kOwner;
      leave();
    }
    lock_word(worker);
    return Hold::kWord;
  }
  void unlock(Hold hold) noexcept {
    if (hold == Hold::kOwner) return leave();
    word_.store(false, std::memory_order_release);
  }

 private:
  template <class T>
  using Atomic = typename S::template Atomic<T>;

  // release pairs with revoke().
  void leave() noexcept { inside_.store(false, std::memory_order_release); }

  [[gnu::noinline]] void lock_word(int worker) noexcept {
    // acquire pairs with unlock().
    while (word_.exchange(true, std::memory_order_acquire)) await_false<S>(word_);
    if (worker > kMostWorkers) worker = -1;
    const auto candidate = static_cast<std::int16_t>(-2 - worker);
    const std::int16_t owner = owner_.load(std::memory_order_relaxed);
    if (owner >= 0) {
      revoke(owner);
    } else if (left_ == kRevoked) {
      if (owner == candidate) left_ = row_;
    } else if (owner != candidate || worker < 0) {
      owner_.store(candidate, std::memory_order_relaxed);
      left_ = row_;
    } else if (left_ > 0) {
      --left_;
    } else if (S::has_process_barrier()) {
      owner_.store(static_cast<std::int16_t>(worker), std::memory_order_relaxed);
    }
  }
  // The owner does not come in any more, and is not inside. It may still be about to write `inside_`, since it has read
  // `owner_` before: that is over when it comes here, and no other owner may write there until then.
  void revoke(std::int16_t owner) noexcept {
    owner_.store(static_cast<std::int16_t>(-2 - owner), std::memory_order_seq_cst);
    row_ = static_cast<std::uint16_t>(std::min(8 * row_, int{S::kLongestRow}));
    left_ = S::omits(RevokeStep::kAwaitReturn) ? row_ : kRevoked;
    if (!S::omits(RevokeStep::kBarrier) && !S::process_barrier()) [[unlikely]] {
      // What has been written elsewhere is seen after a while in any case.
      if (!S::omits(RevokeStep::kRestSurely)) S::rest_surely();
    }
    if (!S::omits(RevokeStep::kAwaitLeave)) await_false<S>(inside_);
  }
  static constexpr int kMostWorkers = 32765;
  static constexpr std::uint16_t kRevoked = 0xffff;
  static_assert(S::kFirstRow <= S::kLongestRow && S::kLongestRow < kRevoked);

  Atomic<bool> word_{false};
  Atomic<bool> inside_{false};  // the owner; or a former one comes, and finds that it is no more
  // Under the word. `owner_`: a worker; or -2 - the last one that held the lock, and `left_` the times until it owns it; or
  // -2 - the former owner, and kRevoked. `row_`: how many times it takes.
  std::uint16_t left_ = S::kFirstRow;
  std::uint16_t row_ = S::kFirstRow;
  Atomic<std::int16_t> owner_{-1};
};

using OwnedLock = BasicOwnedLock<OwnedLockSystem>;

}  // namespace tmpi
