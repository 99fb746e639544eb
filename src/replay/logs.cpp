#include "replay/logs.hpp"

#include <limits>

#include "mpi/rank/threads.hpp"
#include "mpi/request/request.hpp"
#include "replay/explored_log.hpp"

namespace tmpi::replay {
namespace {

/// The source of a receive that took nothing, since the library refused the call.
constexpr int kRefused = std::numeric_limits<int>::max();

}  // namespace

OpenLog log_of_receive(int source, int tag) noexcept {
  if (!is_wild(source, tag) && (!explored() || source == MPI_PROC_NULL)) return OpenLog();
  return log_of_caller();
}

std::uint64_t context_of(MPI_Comm comm) noexcept {
  mpi::Rank* const rank = mpi::calling_rank();
  const mpi::Comm* const found =
      rank == nullptr || comm == MPI_COMM_NULL ? nullptr : mpi::comm_from(*rank, comm);
  return found == nullptr ? 0 : found->context;
}

Receiving::Receiving(RankLog& log, ChoiceKind kind, const char* call, Envelope asked, MPI_Comm comm,
                     bool takes, MPI_Status* status)
    : log_(log),
      kind_(kind),
      call_(call),
      wild_(is_wild(asked.source, asked.tag)),
      wanted_(asked),
      status_(status == MPI_STATUS_IGNORE ? &own_ : status) {
  if (ExploredLog* const explored_log = log.explored_log()) {
    explored_log->narrow(wanted_);
    explored_ = explored_log->ask(context_of(comm), asked, takes);
  }
  if (!wild_) return;
  const Choice* recorded = log.ahead(kind, call);
  if (recorded != nullptr && recorded->source != kRefused) wanted_ = {recorded->source, recorded->tag};
}

int Receiving::returned(int result) {
  // A message that is longer than the buffer has been taken, too. Other errors take none.
  const bool took = result == MPI_SUCCESS || result == MPI_ERR_TRUNCATE;
  if (took && log_.explored_log() != nullptr)
    log_.explored_log()->took(explored_, {status_->MPI_SOURCE, status_->MPI_TAG});
  if (!wild_) return result;
  Choice choice{kind_};
  choice.source = took ? status_->MPI_SOURCE : kRefused;
  choice.tag = took ? status_->MPI_TAG : 0;
  log_.note(choice, call_);
  return result;
}

Completing::Completing(RankLog& log, const char* call, int count, MPI_Request* requests)
    : log_(log), call_(call), requests_(requests) {
  if (!log.any_open() || requests == nullptr) return;
  for (int i = 0; i < count; ++i) {
    if (log.is_open(requests[i])) open_.push_back({i, requests[i]});
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
