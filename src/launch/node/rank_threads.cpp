#include "launch/node/rank_threads.hpp"

#include <fmt/core.h>

#include <atomic>

#include "mpi/rank/callbacks.hpp"
#include "mpi/rank/threads.hpp"
#include "privatize/thread_hooks.hpp"
#include "sched/move.hpp"
#include "sched/thread_pointer.hpp"
#include "sched/waiter.hpp"

namespace tmpi::launch {
namespace {

void wait_for(privatize::ThreadEvent& event, const char* where) noexcept {
  const sched::Inside inside(sched::current());
  static_cast<mpi::Rank*>(sched::current()->owner)->set_call(where);
  sched::Waiter waiter(1);
  if (event.leave(&waiter)) waiter.wait();
}

bool in_user_code() noexcept {
  const sched::Task* task = sched::current();
  return task != nullptr && !task->inside;
}

void wake(void* waiter) noexcept {
  static_cast<sched::Waiter*>(waiter)->complete();
}

// Programs that place themselves do so in every rank.
void say_that_workers_stay(int rank) noexcept {
  static std::atomic<bool> said{false};
  if (mpi::callbacks().inform == nullptr || said.exchange(true, std::memory_order_relaxed)) return;
  mpi::callbacks().inform(fmt::format(
      "rank {} on host {} has chosen cores for itself, as others may have: its threads run there, "
      "workers stay where --report-bindings shows them",
      rank, mpi::job()->host()));
}

void yield() noexcept {
  const sched::Inside inside(sched::current());
  sched::yield();
}

}  // namespace

void register_thread_hooks() noexcept {
  privatize::set_thread_hooks({
      .created = [](int rank) noexcept { mpi::thread_created(*mpi::job()->local(rank)); },
      .in_user_code = in_user_code,
      .wait = wait_for,
      .wake = wake,
      .yield = yield,
      .stays = [](int rank) noexcept { sched::anchor(*mpi::job()->local(rank)->task); },
      .chooses_cores = say_that_workers_stay,
      .takes_thread_pointer = [](ThreadPointer& pointer) noexcept { sched::take_thread_pointer(pointer); },
  });
}

}  // namespace tmpi::launch
