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

Err cancel(Request& request) {
  if (request.done()) return kOk;
  if (request.extension != nullptr) return request.extension->cancel(request);
  if (request.peer == MPI_PROC_NULL) return kOk;
  const bool withdrawn = request.kind == RequestKind::kRecv   ? withdraw_receive(request)
                         : request.kind == RequestKind::kSend ? withdraw_message(request)
                                                              : false;
  if (!withdrawn) return kOk;  // matched already: it will complete
  request.cancelled = true;
  request.bytes = 0;
  request.complete();
  return kOk;
}

}  // namespace tmpi::mpi
