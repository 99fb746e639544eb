#include "mpi/p2p/cell.hpp"
#include "mpi/p2p/channel.hpp"
#include "mpi/p2p/p2p.hpp"
#include "mpi/p2p/remote_calls.hpp"
#include "mpi/p2p/transfer.hpp"
#include "sched/move.hpp"

namespace tmpi::mpi {
namespace {

bool withdraw_message(Request& request) noexcept {
  Matcher& matcher = process(*request.comm, request.peer)->matcher;
  MatcherLock lock(matcher);
  if (!request.message.queued) return false;
  matcher.remove(request.message);
  return true;
}

// Takes the message back that a send, complete since, has left with the receiver. Messages with the same key
// are received in order, so if this one is still there it is the youngest with its serial number; an older
// request whose number ends in the same 16 bits cannot be meant while fewer than 2^16 sends have followed.
bool withdraw_buffered(Request& request) noexcept {
  Rank& me = *request.comm->owner;
  if (me.requests.last_serial() - request.serial >= 0xffff) return false;
  Rank& target = *process(*request.comm, request.peer);
  const bool move = sched::tasks_move();
  const int here = (move ? me.place : me.worker).load(std::memory_order_relaxed);
  const int there = (move ? target.place : target.worker).load(std::memory_order_relaxed);
  // What no memory is found for stays in the channel, out of reach: then it is not cancelled.
  if (move && follow(here, there, target) == Followed::kNo) return false;
  if (here != there && there >= 0 && !flush(here, there)) return false;
  Message* message;
  {
    MatcherLock lock(target.matcher);
    message = target.matcher.find_youngest({request.context, request.comm->rank, request.tag},
                                           static_cast<std::uint16_t>(request.serial));
    if (message == nullptr) return false;
    target.matcher.remove(*message);
  }
  if (message->sender != nullptr)
    message->sender->complete();  // a buffered send's own request, which points into the attached buffer
  else
    give_back_cell(message);
  return true;
}

}  // namespace

bool withdraw_receive(Request& request) noexcept {
  {
    MatcherLock lock(request.comm->owner->matcher);
    if (!request.posted.queued) return false;
    request.comm->owner->matcher.remove(request.posted);
  }
  if (request.expected) [[unlikely]] {
    remote_calls()->no_longer_expected(request);
    if (request.announced) remote_calls()->retract(request);
  }
  return true;
}

Err cancel(Request& request) {
  if (request.extension != nullptr) return request.extension->cancel(request);
  if (request.peer == MPI_PROC_NULL) return kOk;
  if (request.kind == RequestKind::kSend && process(*request.comm, request.peer) == nullptr) {
    remote_calls()->cancel_send(request);
    return kOk;
  }
  const bool was_done = request.done();
  bool withdrawn = false;
  if (request.kind == RequestKind::kRecv)
    withdrawn = !was_done && withdraw_receive(request);
  else if (request.kind == RequestKind::kSend)
    withdrawn = was_done ? request.buffered && !request.cancelled && withdraw_buffered(request)
                         : withdraw_message(request);
  if (!withdrawn) return kOk;  // matched already: it will complete
  request.cancelled = true;
  request.bytes = 0;
  if (!was_done) request.complete();
  return kOk;
}

}  // namespace tmpi::mpi
