#include "launch/node/port_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "launch/control/control.hpp"
#include "launch/node/deadlock_watch.hpp"
#include "launch/ports/port_wire.hpp"
#include "mpi.h"
#include "mpi/request/blocked.hpp"
#include "sched/sleep.hpp"

namespace tmpi::launch {

// Two waits: while tmpirun has not said anything, this is no wait for other ranks, and so no part of a deadlock. When it
// has said that nobody is at the other end, it is; and the rank has to run for that, since a node process whose workers
// sleep is not looked at again.
mpi::PortAnswer PortCalls::ask(const mpi::Rank& rank, const mpi::PortCall& call) {
  PortRequest request{.request = 0, .call = call};
  if (call.name.size() + call.port.size() + 1024 > kMaxPayload) {
    mpi::PortAnswer answer;
    answer.error = MPI_ERR_ARG;
    answer.why = fmt::format("the name has {} characters", call.name.size());
    return answer;
  }
  Pending mine;
  sched::Waiter first(1);
  mine.waiter = &first;
  {
    const std::lock_guard guard(mutex_);
    request.request = requests_++;
    pending_[request.request] = &mine;
  }
  Control::instance()->send(FrameType::kPortCall, rank.world_rank, 0, pack(request));
  first.wait();
  sched::Waiter second(1);
  int owner, port;
  {
    const std::lock_guard guard(mutex_);
    if (mine.answered) return std::move(mine.answer);
    if (call.timeout <= 0) mine.waiter = &second;
    owner = mine.answer.peer;
    port = static_cast<int>(mine.answer.pairing);
  }
  if (call.timeout > 0) {
    if (answered_within(call.timeout, mine)) return std::move(mine.answer);
    request.call.kind = mpi::PortCall::Kind::kWithdraw;
    {
      const std::lock_guard guard(mutex_);
      if (mine.answered) return std::move(mine.answer);
      mine.waiter = &second;
    }
    Control::instance()->send(FrameType::kPortCall, rank.world_rank, 0, pack(request));
    second.wait();  // not for long
  } else {
    mpi::wait_for_port(second, owner, port);
  }
  return std::move(mine.answer);
}

// Sleeps, so that this is no part of a deadlock; a look every millisecond.
bool PortCalls::answered_within(double seconds, const Pending& pending) {
  const std::uint64_t begin = sched::monotonic_now();
  const double most = 1e9 * std::min(seconds, 1e9);
  while (static_cast<double>(sched::monotonic_now() - begin) < most) {
    (void)sched::sleep_until(sched::monotonic_now() + 1'000'000);
    const std::lock_guard guard(mutex_);
    if (pending.answered) return true;
  }
  return false;
}

void PortCalls::on_frame(const Frame& frame) {
  Result<PortReply> reply = unpack_port_reply(frame.payload);
  if (!reply) return Control::instance()->report_end(EndKind::kStartFailed, -1, 1, reply.message());
  const std::lock_guard guard(mutex_);
  const auto found = pending_.find(reply->to.request);
  if (found == pending_.end()) return;
  Pending& pending = *found->second;
  pending.answer = std::move(reply->answer);
  if (!reply->queued) {
    pending.answered = true;
    pending_.erase(found);
  }
  end_quiescence();  // before the rank may run
  if (sched::Waiter* waiter = std::exchange(pending.waiter, nullptr)) waiter->complete();
}

}  // namespace tmpi::launch
