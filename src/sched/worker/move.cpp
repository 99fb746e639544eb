#include "sched/move.hpp"

#include "sched/scheduler.hpp"
#include "sched/worker/worker.hpp"
#include "timers/clock.hpp"

namespace tmpi::sched {

bool is_neighbour(const Task& task) noexcept {
  inside_worker.assume();
  const Worker* const here = this_worker();  // null: a thread that is just leaving it
  return here != nullptr && here->owns(task);
}

Moved move_to(int worker) noexcept {
  inside_worker.assume();
  Task& self = *current();
  Mover* const mover = worker_of(self)->mover();
  if (mover == nullptr) return Moved::kStationary;
  return mover->move(self, *mover->balancer().movers()[static_cast<std::size_t>(worker)],
                     Mover::Whose::kItsOwn);
}

void detail::step_done(int tasks) noexcept {
  inside_worker.assume();
  Mover& here = *this_worker()->mover();
  here.account();
  here.balancer().step(tasks, timers::now_ticks());
}

// What a message between workers costs each of them more, and its data, which come from the other core's cache. Little:
// what it has cost where the two are is part of the time that they have run.
void detail::count_message(Task& from, const Task& to, std::size_t bytes) noexcept {
  constexpr std::uint64_t kMessage = 40, kBytes = 20;  // ns; bytes of one
  Task& sender = from.rank_task != nullptr ? *from.rank_task : from;
  if (&sender != &to) sender.moving->peers.add(to.id, kMessage + bytes / kBytes);
}

void plan_soon() noexcept {
  Worker* const here = this_worker();
  if (here != nullptr && here->mover() != nullptr) here->mover()->balancer().plan_soon();
}

std::uint64_t moves() noexcept {
  const Scheduler* const all = scheduler();
  std::uint64_t sum = 0;
  for (int worker = 0; all != nullptr && worker < all->workers(); ++worker) sum += all->moves_to(worker);
  return sum;
}

}  // namespace tmpi::sched
