// Waiting for requests: the waiter is hung into each pending request, and the completions count it down.
#include "mpi/p2p/channel.hpp"
#include "mpi/p2p/p2p.hpp"
#include "mpi/p2p/remote_calls.hpp"
#include "mpi/p2p/turn.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/request/blocked.hpp"
#include "sched/scheduler.hpp"
#include "sched/task.hpp"

namespace tmpi::mpi {
namespace {

// Waited for, and done; `suspended`: not before the rank had been.
inline void have_waited(const Request& request, bool suspended) noexcept {
  if (request.comm == nullptr) return;
  if (suspended) {
    request.comm->owner->others_had_turn();
  } else {
    found_at_once(*request.comm->owner);
  }
}

struct Pending {
  int count = 0;
  const Request* any = nullptr;  // of all, pending or not
};

inline Pending count_pending(Request* const* requests, int n) noexcept {
  Pending pending;
  for (int i = 0; i < n; ++i) {
    if (requests[i] == nullptr) continue;
    pending.any = requests[i];
    pending.count += !requests[i]->done();
  }
  return pending;
}

}  // namespace

void wait(Request& request) noexcept {
  note_look(request);
  if (request.done()) return have_waited(request, false);
  sched::Waiter waiter(1);
  Request* const alone = &request;
  have_waited(request, request.attach(waiter) && wait_for(waiter, WaitKind::kAll, &alone, 1, 1));
}

void wait_all(Request* const* requests, int n) noexcept {
  Pending pending = count_pending(requests, n);
  // Before the waiter is hung into each of them: what has come by now completes without it. Not while others there wait
  // for their turn.
  if (pending.count > 1 && !sched::one_worker() && take_in(sched::lone_worker()))
    pending = count_pending(requests, n);
  if (pending.count == 0) {
    if (pending.any != nullptr) have_waited(*pending.any, false);
    return;
  }
  sched::Waiter waiter(pending.count);
  int hung = 0;
  for (int i = 0; i < n; ++i) {
    if (requests[i] != nullptr && !requests[i]->done() && requests[i]->attach(waiter)) ++hung;
  }
  // Those that finished between the two loops count themselves.
  const int unfinished = hung;
  for (; hung < pending.count; ++hung) waiter.complete();
  if (unfinished == 0) {
    waiter.wait();
    have_waited(*pending.any, false);
  } else {
    have_waited(*pending.any, wait_for(waiter, WaitKind::kAll, requests, n, unfinished));
  }
}

void wait_any(Request* const* requests, int n) noexcept {
  sched::Waiter waiter(1);
  int claimed = 0;  // completions that have or will have counted on the waiter
  int hung = 0;     // requests[0..hung) hold the waiter,
  int pending = 0;  // so many of them are not null
  const Request* any = nullptr;
  bool suspended = false;
  for (; hung < n; ++hung) {
    Request* request = requests[hung];
    if (request != nullptr) any = request;
    if (request != nullptr && (request->done() || !request->attach(waiter))) {
      waiter.complete();  // this one is done: no need to wait
      ++claimed;
      break;
    }
    pending += request != nullptr;
  }
  if (claimed > 0) {
    waiter.wait();
  } else {
    suspended = wait_for(waiter, WaitKind::kAny, requests, n, pending);
  }
  // Take the waiter back. Where that fails a completer has hold of it and must be done with it before it goes
  // out of scope.
  for (int i = 0; i < hung; ++i) {
    if (requests[i] != nullptr && !requests[i]->detach(waiter)) ++claimed;
  }
  waiter.drain(claimed);
  if (any != nullptr) have_waited(*any, suspended);
}

}  // namespace tmpi::mpi
