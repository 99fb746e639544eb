#include "sched/helper.hpp"

#include "sched/loop/helper_pool.hpp"
#include "sched/move.hpp"
#include "sched/worker/worker.hpp"

namespace tmpi::sched {

bool run_helper(void (*work)(void*), void* argument) noexcept {
  inside_worker.assume();
  Worker& worker = *this_worker();
  HelperFiber* helper = worker.helpers().take();
  if (helper != nullptr && helper == worker.running()) [[unlikely]] {
    // A thread of the rank calls, and the worker's own idles on the stack of this helper fiber,
    // which it ran last.
    HelperFiber* other = worker.helpers().take();
    worker.helpers().give_back(*helper);
    helper = other;
  }
  if (helper == nullptr) return false;
  Task& self = *current();
  helper->owner = self.owner;
  helper->home = self.home;
  // As long as it works for its rank, that stays on the worker: what the two share is guarded by nothing else.
  helper->rank_task = self.rank_task != nullptr ? self.rank_task : &self;
  // The two never run at the same time, so that they can have one thread pointer; user's functions need it.
  helper->run_with(self.thread_pointer);
  anchor(*helper->rank_task);
  helper->work = work;
  helper->work_argument = argument;
  helper->stays = false;
  worker.hand_off_to(self, *helper);
  worker.attend();
  return true;
}

void stay_on_worker(bool stays) noexcept {
  HelperFiber& self = *static_cast<HelperFiber*>(current());
  inside_worker.assume();
  self.stays = stays;
  if (stays && self.worker->door().attended_here()) self.worker->yield(self);
}

}  // namespace tmpi::sched
