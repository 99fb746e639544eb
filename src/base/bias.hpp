// Bias: exclusion between one side that comes and goes all the time and others that seldom do (biased locking: Russell and
// Detlefs, OOPSLA '06; the pattern is Dekker's). The favoured side writes and reads a word, without an atomic
// instruction; who claims pays for both by a barrier on all threads of the process.
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>

#include "base/platform.hpp"
#include "base/process_barrier.hpp"

namespace tmpi {

class Bias {
 public:
  Bias() = default;
  Bias(const Bias&) = delete;
  Bias& operator=(const Bias&) = delete;

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
    if (!refused_.load(std::memory_order_acquire) && !process_barrier()) [[unlikely]] {
      // What has been written elsewhere is seen after a while in any case. Not again: the favoured side stays turned away.
      claims_.fetch_add(1, std::memory_order_relaxed);
      rest(kSurely);
      refused_.store(true, std::memory_order_release);
    }
    // acquire pairs with leave(). Who is inside may have lost its core to this thread.
    for (int looks = 0; inside_.load(std::memory_order_acquire); ++looks)
      looks < kLooks ? cpu_relax() : rest(kHolder);
  }
  void release() noexcept { claims_.fetch_sub(1, std::memory_order_release); }

 private:
  static constexpr int kLooks = 100;
  static constexpr long kHolder = 20'000;      // ns
  static constexpr long kSurely = 10'000'000;  // ns
  static void rest(long nanoseconds) noexcept {
    const timespec time{0, nanoseconds};
    nanosleep(&time, nullptr);
  }

  // The favoured side's own line, but for claims, which are seldom.
  alignas(kCacheLine) std::atomic<bool> inside_{false};
  std::atomic<std::uint32_t> claims_{0};
  std::atomic<bool> refused_{false};  ///< the barrier, once: one claim is never given back
};

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
