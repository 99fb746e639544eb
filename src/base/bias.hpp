// Bias: exclusion between one side that comes and goes all the time and others that seldom do (biased locking: Russell and
// Detlefs, OOPSLA '06; the pattern is Dekker's). The favoured side writes and reads a word, without an atomic
// instruction; who claims pays for both by a barrier on all threads of the process. Written for any system (below): it runs
// on the machine's, and on one that tries every order of steps (sched/bias_check_test.cpp).
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>

#include "base/platform.hpp"
#include "base/process_barrier.hpp"

namespace tmpi {

/// Steps of claim() that look as if one could do without: the check leaves each of them out in turn.
enum class BiasStep {
  kBarrier,     ///< on the favoured side, between the claim and the look whether it is inside
  kRestSurely,  ///< ... and what takes its place where there is none
  kKeepClaim,   ///< ... and never gives it back
  kAwaitLeave,  ///< who is inside is waited for
};

/// What Bias needs of the machine.
struct BiasSystem {
  template <class T>
  using Atomic = std::atomic<T>;
  static constexpr int kLooks = 100;  ///< in short succession
  static constexpr bool omits(BiasStep) noexcept { return false; }
  static bool process_barrier() noexcept { return tmpi::process_barrier(); }
  static void relax() noexcept { cpu_relax(); }
  /// Who is inside may have lost its core to this thread.
  static void rest() noexcept { rest_for(20'000); }
  /// So long that what other threads have written before is seen.
  static void rest_surely() noexcept { rest_for(10'000'000); }

 private:
  static void rest_for(long nanoseconds) noexcept {
    const timespec time{0, nanoseconds};
    nanosleep(&time, nullptr);
  }
};

/// Returns when `flag`, which is set for some instructions only, is false; what was written before that is seen (acquire).
template <class S>
void await_false(const typename S::template Atomic<bool>& flag) noexcept {
  for (int looks = 0; flag.load(std::memory_order_acquire);) {
    if (looks == S::kLooks) {
      S::rest();
    } else {
      ++looks;
      S::relax();
    }
  }
}

template <class S>
class BasicBias {
 public:
  BasicBias() = default;
  BasicBias(const BasicBias&) = delete;
  BasicBias& operator=(const BasicBias&) = delete;

  // ---- The favoured side: one thread at a time, and not while it is inside.

  /// True: nobody claims it before leave(). False: somebody has, and leave() is not to be called.
  bool enter() noexcept {
    inside_.store(true, std::memory_order_relaxed);
    quick_barrier();
    // acquire pairs with release(): what was done under the claim is seen.
    if (claims_.load(std::memory_order_acquire) == 0) [[likely]]
      return true;
    leave();
    return false;
  }
  void leave() noexcept {
    // release pairs with claim().
    inside_.store(false, std::memory_order_release);
  }

  // ---- Any thread that is not inside. Several may claim it at the same time: what keeps them from each other, and from the
  // favoured side while that is turned away, is another lock.

  /// Waits until the favoured side has left. It is turned away from then on.
  void claim() noexcept {
    claims_.fetch_add(1, std::memory_order_seq_cst);
    if (!S::omits(BiasStep::kBarrier) && !refused_.load(std::memory_order_acquire) && !S::process_barrier())
        [[unlikely]] {
      // What has been written elsewhere is seen after a while in any case. Not again: the favoured side stays turned away.
      if (!S::omits(BiasStep::kKeepClaim)) claims_.fetch_add(1, std::memory_order_relaxed);
      if (!S::omits(BiasStep::kRestSurely)) S::rest_surely();
      refused_.store(true, std::memory_order_release);
    }
    if (S::omits(BiasStep::kAwaitLeave)) return;
    await_false<S>(inside_);  // pairs with leave()
  }
  void release() noexcept { claims_.fetch_sub(1, std::memory_order_release); }

 private:
  template <class T>
  using Atomic = typename S::template Atomic<T>;

  // The favoured side's own line, but for claims, which are seldom.
  alignas(kCacheLine) Atomic<bool> inside_{false};
  Atomic<std::uint32_t> claims_{0};
  Atomic<bool> refused_{false};  ///< the barrier, once: one claim is never given back
};

using Bias = BasicBias<BiasSystem>;

/// For a while; null: there is nobody to keep out.
class Claim {
 public:
  explicit Claim(Bias* bias) noexcept : bias_(bias) {
    if (bias_ != nullptr) bias_->claim();
  }
  ~Claim() {
    if (bias_ != nullptr) bias_->release();
  }
  Claim(const Claim&) = delete;

 private:
  Bias* const bias_;
};

}  // namespace tmpi
