#include "replay/logs.hpp"

#include "mpi/request/request.hpp"

namespace tmpi::replay {

Receiving::Receiving(RankLog& log, ChoiceKind kind, const char* call, int source, int tag, MPI_Status* status)
    : log_(log),
      kind_(kind),
      call_(call),
      wanted_{source, tag},
      status_(status == MPI_STATUS_IGNORE ? &own_ : status) {
  if (const Choice* recorded = log.ahead(kind, call)) wanted_ = {recorded->source, recorded->tag};
}

int Receiving::returned(int result) {
  // A message that is longer than the buffer has been taken, too. Other errors take none.
  if (result == MPI_SUCCESS || status_->MPI_ERROR == MPI_ERR_TRUNCATE || result == MPI_ERR_TRUNCATE) {
    Choice choice{kind_};
    choice.source = status_->MPI_SOURCE;
    choice.tag = status_->MPI_TAG;
    log_.note(choice, call_);
  }
  return result;
}

Completing::Completing(RankLog& log, const char* call, int count, MPI_Request* requests)
    : log_(log), call_(call), requests_(requests) {
  if (!log.any_open() || requests == nullptr) return;
  for (int i = 0; i < count; ++i) {
    if (log.number_of(requests[i])) open_.push_back({i, requests[i]});
  }
}

void Completing::returned() {
  for (const Open& open : open_) {
    // Given back to its pool, or inactive, and as it was: the rank has started nothing since.
    const auto& request = *reinterpret_cast<const mpi::Request*>(open.request);
    if (requests_[open.index] == open.request && request.active) continue;
    const bool took = !request.cancelled;
    log_.completed(open.request,
                   took ? std::optional(Envelope{request.source, request.received_tag}) : std::nullopt,
                   call_);
  }
}

}  // namespace tmpi::replay
