#include "sched/threads/attendant.hpp"

#include <pthread.h>

#include "base/own_thread.hpp"
#include "sched/offload.hpp"
#include "sched/scheduler.hpp"
#include "sched/worker/worker.hpp"

namespace tmpi::sched {
namespace {

// Helper fibers run in a row before the worker's own thread is let in.
constexpr int kSteps = 16;
// So many wake-ups in vain, while there is no helper fiber, and it rests: who sends to the worker pays for each.
constexpr int kVain = 8;
constexpr std::uint64_t kSettlingTime = 50'000;  // ns

}  // namespace

// Of its worker's entrance, for a thread that goes to work when there is a helper fiber to be run.
struct Attendant::Host {
  Attendant& self;

  void look() noexcept TMPI_REQUIRES(inside_worker) {
    Worker& worker = self.worker_;
    worker.idling().look();
    const bool work = worker.has_ready_helper();
    if (work || (worker.helpers().busy() == 0 && ++self.vain_ > kVain)) self.task_->parker.woken = true;
    // relaxed: stop() wakes in any case.
    if (self.stopping_.load(std::memory_order_relaxed)) self.task_->parker.woken = true;
  }
  bool look_again() noexcept TMPI_REQUIRES(inside_worker) { return self.worker_.idling().look_again(); }
  bool has_ready() const noexcept TMPI_REQUIRES(inside_worker) { return self.worker_.idling().has_ready(); }
  // Only the worker's own thread sleeps so.
  bool sleep(std::uint32_t epoch) noexcept { return self.worker_.idling().sleep(epoch); }
};

// The worker's monitor counts from now on.
void Attendant::admit() noexcept {
  if (worker_.door().admits()) return;
  scheduler()->admit_threads();
  worker_.door().expect_ranks(false);
}

void Attendant::expect() noexcept {
  if (!made_) {
    admit();
    made_ = start_own_thread(
        [](void* self) -> void* {
          static_cast<Attendant*>(self)->serve();
          return nullptr;
        },
        this, 0, &thread_);
    return;
  }
  if (!dormant_) return;
  dormant_ = false;
  rest_.notify();
}

bool Attendant::runs_here() const noexcept {
  return pthread_equal(pthread_self(), thread_) != 0;
}

void Attendant::take_over() noexcept {
  if (task_ == nullptr || dormant_ || task_->parker.woken || !worker_.has_ready_helper()) return;
  worker_.door().entrance().wake(task_->parker);
}

void Attendant::stop() noexcept {
  stopping_.store(true, std::memory_order_seq_cst);  // pairs with rest()
  if (!made_) return;
  worker_.door().entrance().enter();
  inside_worker.assume();
  rest_.notify();
  if (task_ != nullptr) worker_.door().entrance().wake(task_->parker);
  worker_.leave();
  while (ended_.load(std::memory_order_acquire) == 0) System::wait_on(ended_, 0);
  made_ = false;
}

void Attendant::serve() noexcept {
  use_offload_affinity();
  pthread_setname_np(pthread_self(), "tmpi-attendant");
  Task model;  // of no rank
  model.worker = &worker_;
  ThreadTask& task = static_cast<ThreadTask&>(thread_task(model));
  detail::enter(task);
  inside_worker.assume();
  task_ = &task;
  // acquire is not needed: stop() comes in when this thread is outside.
  while (!stopping_.load(std::memory_order_relaxed)) {
    if (worker_.helpers().busy() == 0 && vain_ > kVain) {
      rest();
    } else {
      Host host{*this};
      worker_.door().entrance().block(task.parker, host);
      work();
      worker_.network().leave_to_progress();
    }
  }
  task_ = nullptr;
  detail::leave(task);
  ended_.store(1, std::memory_order_release);
  System::wake_all(ended_);
}

// Until there are helper fibers again, where no message wakes it.
void Attendant::rest() noexcept {
  dormant_ = true;
  const std::uint32_t epoch = rest_.epoch();  // inside: expect() comes later
  detail::leave(*task_);
  // seq_cst pairs with stop(), which begins another epoch afterwards.
  if (!stopping_.load(std::memory_order_seq_cst)) rest_.wait(epoch, 0);
  // The worker's thread, which has made the helper fiber ready, is in the library, where it may run it itself.
  if (!stopping_.load(std::memory_order_seq_cst)) rest_.wait(rest_.epoch(), kSettlingTime);
  detail::enter(*task_);
  dormant_ = false;
  vain_ = 0;
}

void Attendant::work() noexcept {
  // The worker's own thread may have come to idle on the stack of one of them, or run them itself, whenever it has
  // been let in.
  for (int i = 0; HelperFiber* const helper = worker_.take_ready_helper(); ++i) {
    vain_ = 0;
    worker_.hand_off_to(*task_, *helper);
    if (i % kSteps == kSteps - 1) worker_.door().entrance().yield(worker_.idling());
  }
}

}  // namespace tmpi::sched
