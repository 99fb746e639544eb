#include "launch/node/port_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "launch/control/control.hpp"
#include "launch/node/deadlock_watch.hpp"
#include "launch/ports/port_wire.hpp"
#include "mpi.h"
#include "mpi/base/other_jobs.hpp"
#include "mpi/request/blocked.hpp"
#include "sched/sleep.hpp"

namespace tmpi::launch {

namespace {

// Whatever is asked about a name comes back in an answer, or in a sentence about it, which must fit a frame.
constexpr std::size_t kMostBytes = 64u << 10;

}  // namespace

// A call that waits for its answer, on the stack of who has asked: on_frame() finds it here, and no more when that has
// gone, however it has gone.
class PortCalls::Entry {
 public:
  Entry(PortCalls& calls, Pending& pending) : calls_(calls) {
    const std::lock_guard guard(calls_.mutex_);
    number_ = calls_.requests_++;
    calls_.pending_[number_] = &pending;
  }
  ~Entry() {
    const std::lock_guard guard(calls_.mutex_);
    calls_.pending_.erase(number_);
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  std::int64_t number() const noexcept { return number_; }

 private:
  PortCalls& calls_;
  std::int64_t number_ = 0;
};

// With a timeout the rank sleeps until then, and takes the call back. Else two waits: while tmpirun has not said anything, this is no wait for other ranks, and so no part of a deadlock. When it
// has said that nobody is at the other end, it is; and the rank has to run for that, since a node process whose workers
// sleep is not looked at again. All memory is allocated before anything is sent: tmpirun keeps what it has been sent.
mpi::PortAnswer PortCalls::ask(const mpi::Rank& rank, const mpi::PortCall& call) {
  if (std::max(call.name.size(), call.port.size()) > kMostBytes) {
    mpi::PortAnswer answer;
    answer.error = MPI_ERR_ARG;
    answer.why = fmt::format("a name has {} characters, which is more than {}",
                             std::max(call.name.size(), call.port.size()), kMostBytes);
    return answer;
  }
  Pending mine;
  const Entry entry(*this, mine);
  PortRequest request{.request = entry.number(), .call = call};
  const std::string asked = pack(request);
  request.call.kind = mpi::PortCall::Kind::kWithdraw;
  const std::string withdrawn = call.timeout > 0 ? pack(request) : std::string();
  const auto send = [&](const std::string& payload) {
    Control::instance()->send(FrameType::kPortCall, rank.world_rank, 0, payload);
  };
  if (call.timeout > 0) {
    send(asked);
    if (answered_within(call.timeout, mine)) return std::move(mine.answer);
    sched::Waiter last(1);
    {
      const std::lock_guard guard(mutex_);
      if (mine.answered) return std::move(mine.answer);
      mine.told = true;
      mine.waiter = &last;
    }
    send(withdrawn);
    last.wait();  // not for long
    return std::move(mine.answer);
  }
  sched::Waiter first(1);
  mine.waiter = &first;
  send(asked);
  first.wait();
  sched::Waiter second(1);
  int owner, port;
  bool outside;
  {
    const std::lock_guard guard(mutex_);
    if (mine.answered) return std::move(mine.answer);
    mine.waiter = &second;
    owner = mine.answer.peer;
    port = static_cast<int>(mine.answer.pairing);
    outside = mine.answer.outside;
  }
  mpi::wait_for_port(second, owner, port, outside);
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
  mpi::PortAnswer& answer = reply->answer;
  if (answer.error == MPI_SUCCESS && mpi::of_other_job(answer.peer)) {
    mpi::OtherJob* const other = mpi::other_jobs().at(mpi::job_of(answer.peer));
    if (other == nullptr || !other->learn(mpi::number_at_home(answer.peer), answer.node)) {
      answer.error = MPI_ERR_PORT;
      answer.why = "the rank at the other end of the port is of a job that this one is not connected with";
    }
  }
  const std::lock_guard guard(mutex_);
  const auto found = pending_.find(reply->to.request);
  if (found == pending_.end()) return;
  Pending& pending = *found->second;
  if (reply->queued && std::exchange(pending.told, true)) return;
  pending.answer = std::move(reply->answer);
  if (!reply->queued) {
    pending.answered = true;
    pending_.erase(found);
  }
  end_quiescence();  // before the rank may run
  if (sched::Waiter* waiter = std::exchange(pending.waiter, nullptr)) waiter->complete();
}

}  // namespace tmpi::launch
