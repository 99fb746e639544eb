#include "mpi/p2p/p2p.hpp"
#include "mpi/p2p/transfer.hpp"

namespace tmpi::mpi {
namespace {

bool withdraw_receive(Request& request) noexcept {
  MatcherLock lock(request.comm->owner->matcher);
  if (!request.posted.queued) return false;
  request.comm->owner->matcher.remove(request.posted);
  return true;
}

bool withdraw_message(Request& request) noexcept {
  Matcher& matcher = process(*request.comm, request.peer).matcher;
  MatcherLock lock(matcher);
  if (!request.message.queued) return false;
  matcher.remove(request.message);
  return true;
}

}  // namespace

void cancel(Request& request) noexcept {
  if (request.done() || request.peer == MPI_PROC_NULL) return;
  const bool withdrawn = request.kind == RequestKind::kRecv   ? withdraw_receive(request)
                         : request.kind == RequestKind::kSend ? withdraw_message(request)
                                                              : false;
  if (!withdrawn) return;  // matched already: it will complete
  request.cancelled = true;
  request.bytes = 0;
  request.complete();
}

}  // namespace tmpi::mpi
