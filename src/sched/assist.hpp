// Assistance: an idle worker does part of what a busy one has to do for a task of its, today of copying a large
// message (mpi/p2p/transfer.cpp). The idle worker looks at its own line while it spins; whoever has work that
// comes in pieces offers it there, goes on with the pieces itself, and takes the offer back when none is left.
// Nobody waits for an assistant to come; one that has come is waited for until it has finished its piece.
// docs/design/scheduling.md.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/platform.hpp"

namespace tmpi::sched {

/// Work in pieces. Lies on the stack of whoever offers it, from offer() to conclude().
class Assist {
 public:
  enum class By { kOwner, kAssistant };
  /// Does a piece that nobody has done yet, if there is one; false: there is none left. Called by both at a time. Must
  /// not suspend or throw.
  using Step = bool (*)(Assist& work, By who) noexcept;

  constexpr explicit Assist(Step step) noexcept : step_(step) {}
  Assist(const Assist&) = delete;
  Assist& operator=(const Assist&) = delete;

  /// The owner's next piece.
  bool step() noexcept { return step_(*this, By::kOwner); }

 private:
  friend class AssistPoint;
  const Step step_;
  std::atomic<bool> left_{false};  // the assistant will not touch it any more
};

/// Where one worker is offered work.
class alignas(kCacheLine) AssistPoint {
 public:
  static constexpr int kPatience = 8;

  // Whoever has work. Any worker's thread but this one's; none of these suspends.
  /// True if the worker idles, and has no other offer: it takes part until it has something to run. If it does not
  /// look now, it does so at once when it idles next.
  bool offer(Assist& work) noexcept {
    Assist* looking = &looking_mark_;
    if (offered_.load(std::memory_order_relaxed) == looking &&
        offered_.compare_exchange_strong(looking, &work, std::memory_order_release,
                                         std::memory_order_relaxed)) {
      return true;
    }
    if (!missed_.load(std::memory_order_relaxed)) missed_.store(true, std::memory_order_relaxed);
    return false;
  }
  /// Ends a successful offer() when no piece is left; all pieces have been done then.
  void conclude(Assist& work) noexcept;
  /// Before Scheduler::wake_if_parked(): a worker that is woken without anything to run looks for offers.
  void request() noexcept { requested_.store(true, std::memory_order_seq_cst); }
  /// Pieces so far that this worker has done for others. Any thread.
  std::uint64_t pieces() const noexcept { return pieces_.load(std::memory_order_relaxed); }

  // The worker.
  /// It did not look when somebody had an offer: it looks at once when it idles, until kPatience times nobody has come.
  bool missed() const noexcept { return missed_.load(std::memory_order_relaxed); }
  /// It has done a piece of another's work. Called by steps, on the assistant's side, where they count as such.
  void count_piece() noexcept {
    pieces_.store(pieces_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  /// Has been asked for since the last call.
  bool take_request() noexcept {
    if (!requested_.load(std::memory_order_relaxed)) return false;
    requested_.store(false, std::memory_order_relaxed);
    return true;
  }
  /// From now on offers are looked for, by assist().
  void look() noexcept {
    if (looking_) return;
    looking_ = true;
    assisted_ = false;
    offered_.store(&looking_mark_, std::memory_order_relaxed);
  }
  /// Takes part in what has been offered while `go_on()`, which is asked between two pieces. True if there was
  /// something.
  template <class GoOn>
  bool assist(GoOn&& go_on) noexcept {
    if (!looking_ || offered_.load(std::memory_order_relaxed) == &looking_mark_) return false;
    Assist* const work = offered_.exchange(&looking_mark_, std::memory_order_acquire);  // pairs with offer()
    if (work == &looking_mark_) return false;  // taken back meanwhile
    assisted_ = true;
    while (work->step_(*work, Assist::By::kAssistant) && go_on()) {
    }
    work->left_.store(true, std::memory_order_release);  // pairs with conclude(); `work` may be gone now
    return true;
  }
  /// Offers are not looked for any more. What has been offered since the last assist() is declined.
  void look_away() noexcept {
    if (!looking_) return;
    looking_ = false;
    Assist* const work = offered_.exchange(nullptr, std::memory_order_acquire);
    if (work != &looking_mark_) {
      assisted_ = true;  // too late for that
      work->left_.store(true, std::memory_order_release);
    }
    if (assisted_) {
      in_vain_ = 0;
    } else if (missed() && ++in_vain_ == kPatience) {
      in_vain_ = 0;
      missed_.store(false, std::memory_order_relaxed);
    }
  }

 private:
  static Assist looking_mark_;  // no work: the worker looks

  std::atomic<Assist*> offered_{nullptr};  // null: the worker does not look
  std::atomic<bool> requested_{false};
  std::atomic<bool> missed_{false};
  bool looking_ = false;   // the worker's own knowledge of offered_ != null
  bool assisted_ = false;  // since look()
  int in_vain_ = 0;        // times since the last offer that it has looked and nobody has come
  // Relaxed: who asks waits for nothing that depends on it.
  std::atomic<std::uint64_t> pieces_{0};
};

}  // namespace tmpi::sched
