// Helpers of the unit tests of tasks that move. Not part of the library.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include "sched/move.hpp"
#include "sched/test_support.hpp"
#include "timers/clock.hpp"

namespace tmpi::sched::test {

inline Options moving(const char* balance, int workers, int tasks) {
  return {.workers = workers, .tasks = tasks, .stack_size = 64 * 1024, .balance = balance, .bind = false};
}

inline void compute(double seconds) {
  const double end = timers::seconds(timers::now_ticks()) + seconds;
  while (timers::seconds(timers::now_ticks()) < end) continue;
}

/// All come, the last one lets the others go on.
class Together {
 public:
  explicit Together(int members) : members_(members) {}
  void arrive(bool step = false) {
    Event mine;
    {
      mutex_.lock();
      if (++arrived_ < members_) {
        waiting_.push_back(&mine);
        mutex_.unlock();
        return mine.wait();
      }
      arrived_ = 0;
      std::vector<Event*> all;
      all.swap(waiting_);
      mutex_.unlock();
      if (step) step_done(members_);
      for (Event* event : all) event->complete();
    }
  }

 private:
  const int members_;
  std::mutex mutex_;
  int arrived_ = 0;
  std::vector<Event*> waiting_;
};

}  // namespace tmpi::sched::test
