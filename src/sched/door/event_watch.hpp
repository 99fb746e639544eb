// EventWatch: the place to park for the one, among all threads that sleep, that watches the event source (the
// network): it is woken by notify() of its eventcount, as all who are parked are, and by the source.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/arming.hpp"
#include "sched/door/eventcount.hpp"
#include "sched/door/system.hpp"

namespace tmpi::sched {

template <class S>
class BasicEventWatch {
 public:
  using Arm = Arming (*)(bool patient) noexcept;  // EventSource::arm

  BasicEventWatch() = default;
  BasicEventWatch(const BasicEventWatch&) = delete;
  BasicEventWatch& operator=(const BasicEventWatch&) = delete;
  ~BasicEventWatch() {
    if (event_ >= 0) S::close_event(event_);
  }

  /// Before the workers run. False, with errno: the process has no descriptor left.
  [[nodiscard]] bool set(Arm arm) noexcept {
    arm_ = arm;
    if (event_ < 0) event_ = S::open_event();
    return event_ >= 0;
  }

  /// There is a source, and nobody watches it. seq_cst pairs with park().
  bool free() const noexcept { return arm_ != nullptr && !taken_.load(std::memory_order_seq_cst); }

  /// Sleeps until `eventcount` has left `epoch`, the source has something, `other` is signalled (an event descriptor, or
  /// -1), or (0: never) `nanoseconds` have passed; may return early. False, and nothing has happened, if there is no source or somebody else
  /// watches it. Who gets true has kept others from watching: it holds the baton (parking.hpp). Any thread;
  /// blocks it. `patient`: rather asleep a little too long than awake.
  bool park(BasicEventcount<S>& eventcount, std::uint32_t epoch, std::uint64_t nanoseconds,
            bool patient = false, int other = -1) noexcept {
    // acquire (of seq_cst) pairs with the store below: one watcher after another uses the descriptor.
    if (!free() || taken_.exchange(true, std::memory_order_seq_cst)) return false;
    listen(eventcount, epoch, event_, other, nanoseconds, [&] { return arm_(patient); });
    // seq_cst pairs with free(), and keeps its order before Inbox::parked() of who looks for a successor:
    // whoever is not found there finds that nobody watches.
    taken_.store(false, std::memory_order_seq_cst);
    return true;
  }

  /// Sleeps likewise, but for the source: at `event`, a descriptor of the caller's own, and at `other`. Nobody else may
  /// sleep at a descriptor by this eventcount meanwhile. Blocks the thread.
  static void listen(BasicEventcount<S>& eventcount, std::uint32_t epoch, int event, int other,
                     std::uint64_t nanoseconds) noexcept {
    listen(eventcount, epoch, event, other, nanoseconds, [] { return Arming{}; });
  }

 private:
  template <class ArmNow>
  static void listen(BasicEventcount<S>& eventcount, std::uint32_t epoch, int event, int other,
                     std::uint64_t nanoseconds, ArmNow&& arm_now) noexcept {
    eventcount.notify_also(event);
    // After notify_also(): whoever notifies from here on is heard at the descriptor.
    if (S::omits(Step::kListenFirst) || eventcount.epoch() == epoch) {
      if (const Arming arming = arm_now(); !arming.ready) S::wait_for(event, other, arming, nanoseconds);
    }
    eventcount.notify_also(-1);  // a signal that comes later wakes the next one who listens for nothing
  }

  Arm arm_ = nullptr;
  int event_ = -1;
  typename S::template Atomic<bool> taken_{false};
};

using EventWatch = BasicEventWatch<System>;

}  // namespace tmpi::sched
