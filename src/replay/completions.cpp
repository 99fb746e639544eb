// Which requests are complete, and when. MPI report, 3.7.3 to 3.7.6, 4.2.2, 12.5.2.
#include <algorithm>
#include <functional>
#include <optional>

#include "mpi/p2p/lifecycle.hpp"
#include "mpix.h"
#include "replay/explored_log.hpp"
#include "replay/logs.hpp"

namespace tmpi::replay {
namespace {

int wait(MPI_Request* request, MPI_Status* status) {
  const OpenLog log = log_of_completion();
  if (!log) return PMPI_Wait(request, status);
  Completing completing(*log, "MPI_Wait", 1, request);
  const int result = PMPI_Wait(request, status);
  completing.returned();
  return result;
}

int waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  const OpenLog log = log_of_completion();
  if (!log) return PMPI_Waitall(count, requests, statuses);
  Completing completing(*log, "MPI_Waitall", count, requests);
  const int result = PMPI_Waitall(count, requests, statuses);
  completing.returned();
  return result;
}

/// Bits of those requests, of the first 63, that have something to complete; where a run is not explored none.
std::uint64_t active(const RankLog& log, int count, const MPI_Request* requests) {
  std::uint64_t bits = 0;
  for (int i = 0; log.explored_log() != nullptr && i < std::min(count, kSeveral); ++i) {
    mpi::Request* request = nullptr;
    if (mpi::request_from(requests[i], request) || request == nullptr || !request->active) continue;
    bits |= std::uint64_t{1} << i;
  }
  return bits;
}

/// What a test asks for, if there is something that may not be complete.
const void* asks_for(const RankLog& log, int count, const MPI_Request* requests) {
  if (active(log, count, requests) == 0) return nullptr;
  return count == 1 ? static_cast<const void*>(requests[0]) : requests;
}

/// A call that says whether `count` requests are complete. `look()`: now, it sets the flag; `wait()`: until they are.
template <class Look, class Wait>
int test(RankLog& log, const char* call, int count, MPI_Request* requests, int* flag, Look&& look,
         Wait&& wait) {
  const Answer answer = log.poll(call, asks_for(log, count, requests));
  if (answer == Answer::kNo) {
    *flag = 0;
    log.polled(false, call);
    return PMPIX_Yield();
  }
  Completing completing(log, call, count, requests);
  *flag = answer == Answer::kYes;
  const int result = answer == Answer::kYes ? wait() : look();
  // A call that is refused has no answer to repeat: so is the one that waits.
  const bool over = *flag != 0 || result != MPI_SUCCESS;
  log.polled(over, call);
  if (over) completing.returned();
  return result;
}

int test_one(MPI_Request* request, int* flag, MPI_Status* status) {
  const OpenLog log = flag == nullptr || request == nullptr ? OpenLog() : log_of_caller();
  if (!log) return PMPI_Test(request, flag, status);
  return test(
      *log, "MPI_Test", 1, request, flag, [&] { return PMPI_Test(request, flag, status); },
      [&] { return PMPI_Wait(request, status); });
}

int testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  const OpenLog log = flag == nullptr || requests == nullptr ? OpenLog() : log_of_caller();
  if (!log) return PMPI_Testall(count, requests, flag, statuses);
  return test(
      *log, "MPI_Testall", count, requests, flag,
      [&] { return PMPI_Testall(count, requests, flag, statuses); },
      [&] { return PMPI_Waitall(count, requests, statuses); });
}

/// Looks until it is so: for calls that have no form that waits.
template <class Look>
int until(const int* flag, Look&& look) {
  for (;;) {
    const int result = look();
    if (result != MPI_SUCCESS || *flag != 0) return result;
    (void)PMPIX_Yield();
  }
}

template <class Look>
int test_and_keep(const char* call, int* flag, Look&& look) {
  const OpenLog log = flag == nullptr ? OpenLog() : log_of_caller();
  if (!log) return look();
  return test(*log, call, 0, nullptr, flag, look, [&] { return until(flag, look); });
}

int request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  return test_and_keep("MPI_Request_get_status", flag,
                       [&] { return PMPI_Request_get_status(request, flag, status); });
}

int request_get_status_all(int count, const MPI_Request* requests, int* flag, MPI_Status* statuses) {
  return test_and_keep("MPI_Request_get_status_all", flag,
                       [&] { return PMPI_Request_get_status_all(count, requests, flag, statuses); });
}

int parrived(MPI_Request request, int partition, int* flag) {
  return test_and_keep("MPI_Parrived", flag, [&] { return PMPI_Parrived(request, partition, flag); });
}

int win_test(MPI_Win win, int* flag) {
  const OpenLog log = flag == nullptr ? OpenLog() : log_of_caller();
  if (!log) return PMPI_Win_test(win, flag);
  return test(
      *log, "MPI_Win_test", 0, nullptr, flag, [&] { return PMPI_Win_test(win, flag); },
      [&] { return PMPI_Win_wait(win); });
}

void note_index(RankLog& log, int index, const char* call) {
  Choice choice{ChoiceKind::kIndex};
  choice.number = index == MPI_UNDEFINED ? 0 : static_cast<std::uint64_t>(index) + 1;
  log.note(choice, call);
}

/// The request that a record names, if the program has that one: else nothing was recorded here.
bool has_request(const Choice* recorded, int count) {
  return recorded != nullptr && recorded->number != 0 &&
         recorded->number <= static_cast<std::uint64_t>(count);
}

/// In a run that is explored: the request that is to be complete, and afterwards which one it was.
class Deciding {
 public:
  Deciding(RankLog& log, int count, const MPI_Request* requests)
      : log_(log.explored_log()), active_(active(log, count, requests)) {}
  /// None: whichever.
  std::optional<int> planned() const {
    const std::optional<int> planned = active_ == 0 ? std::nullopt : log_->planned_request();
    return planned && (active_ >> *planned & 1) != 0 ? planned : std::nullopt;
  }
  void completed(int count, int index) const {
    if (active_ == 0 || count <= 0) return;
    log_->completed(count == 1 && index >= 0 ? std::min(index, kSeveral) : kSeveral, active_);
  }

 private:
  ExploredLog* const log_;
  const std::uint64_t active_;
};

/// One of several; `look` is the library's call.
template <class Look>
int complete_any(RankLog& log, const char* call, int count, MPI_Request* requests, int* index,
                 MPI_Status* status, Look&& look) {
  Completing completing(log, call, count, requests);
  const Deciding deciding(log, count, requests);
  int result = MPI_SUCCESS;
  *index = MPI_UNDEFINED;
  if (const Choice* recorded = log.ahead(ChoiceKind::kIndex, call); has_request(recorded, count)) {
    *index = static_cast<int>(recorded->number - 1);
    result = PMPI_Wait(&requests[*index], status);
  } else if (const std::optional<int> planned = deciding.planned()) {
    *index = *planned;
    result = PMPI_Wait(&requests[*index], status);
  } else {
    result = look();
  }
  note_index(log, *index, call);
  deciding.completed(1, *index);
  completing.returned();
  return result;
}

int waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  const OpenLog log = index == nullptr || requests == nullptr ? OpenLog() : log_of_caller();
  if (!log) return PMPI_Waitany(count, requests, index, status);
  return complete_any(*log, "MPI_Waitany", count, requests, index, status,
                      [&] { return PMPI_Waitany(count, requests, index, status); });
}

int testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  constexpr const char* kCall = "MPI_Testany";
  const OpenLog log =
      index == nullptr || flag == nullptr || requests == nullptr ? OpenLog() : log_of_caller();
  if (!log) return PMPI_Testany(count, requests, index, flag, status);
  const Answer answer = log->poll(kCall, asks_for(*log, count, requests));
  if (answer == Answer::kNo) {
    *flag = 0;
    *index = MPI_UNDEFINED;
    log->polled(false, kCall);
    return PMPIX_Yield();
  }
  if (answer == Answer::kYes) {
    log->polled(true, kCall);
    *flag = 1;
    return complete_any(*log, kCall, count, requests, index, status, [&] {
      return log->explored_log() != nullptr ? PMPI_Waitany(count, requests, index, status)
                                            : PMPI_Testany(count, requests, index, flag, status);
    });
  }
  Completing completing(*log, kCall, count, requests);
  const Deciding deciding(*log, count, requests);
  *flag = 0;
  *index = MPI_UNDEFINED;
  const int result = PMPI_Testany(count, requests, index, flag, status);
  const bool over = *flag != 0 || result != MPI_SUCCESS;
  log->polled(over, kCall);
  if (!over) return result;
  note_index(*log, *index, kCall);
  deciding.completed(1, *index);
  completing.returned();
  return result;
}

void note_some(RankLog& log, int count, const int* indices, const char* call) {
  Choice choice{ChoiceKind::kSome};
  choice.number = static_cast<std::uint64_t>(std::max(count, 0));
  if (count > 0) choice.indices.assign(indices, indices + count);
  log.note(choice, call);
}

/// Those that the record names, in its order, which is the array's.
int wait_for_recorded(const Choice& recorded, MPI_Request* requests, int* completed, int* indices,
                      MPI_Status* statuses) {
  int worst = MPI_SUCCESS;
  *completed = 0;
  for (const int index : recorded.indices) {
    MPI_Status own;
    MPI_Status& status = statuses == MPI_STATUSES_IGNORE ? own : statuses[*completed];
    const int result = PMPI_Wait(&requests[index], &status);
    status.MPI_ERROR = result;
    if (result != MPI_SUCCESS) worst = MPI_ERR_IN_STATUS;
    indices[(*completed)++] = index;
  }
  return worst;
}

/// The same of several, each once, so that they fit into the program's arrays.
bool has_requests(const Choice* recorded, int count) {
  return recorded != nullptr && !recorded->indices.empty() && recorded->indices.front() >= 0 &&
         recorded->indices.back() < count &&
         std::ranges::adjacent_find(recorded->indices, std::ranges::greater_equal()) ==
             recorded->indices.end();
}

template <class Look>
int complete_some(RankLog& log, const char* call, int count, MPI_Request* requests, int* completed,
                  int* indices, MPI_Status* statuses, Look&& look) {
  Completing completing(log, call, count, requests);
  const Deciding deciding(log, count, requests);
  int result = MPI_SUCCESS;
  *completed = MPI_UNDEFINED;
  if (const Choice* recorded = log.ahead(ChoiceKind::kSome, call); has_requests(recorded, count)) {
    result = wait_for_recorded(*recorded, requests, completed, indices, statuses);
  } else if (const std::optional<int> planned = deciding.planned()) {
    Choice only{ChoiceKind::kSome};
    only.indices = {*planned};
    result = wait_for_recorded(only, requests, completed, indices, statuses);
  } else {
    result = look();
  }
  note_some(log, *completed, indices, call);
  deciding.completed(*completed, *completed > 0 ? indices[0] : -1);
  completing.returned();
  return result;
}

int waitsome(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses) {
  const bool usable = completed != nullptr && indices != nullptr && requests != nullptr;
  const OpenLog log = usable ? log_of_caller() : OpenLog();
  if (!log) return PMPI_Waitsome(count, requests, completed, indices, statuses);
  return complete_some(*log, "MPI_Waitsome", count, requests, completed, indices, statuses,
                       [&] { return PMPI_Waitsome(count, requests, completed, indices, statuses); });
}

int testsome(int count, MPI_Request* requests, int* completed, int* indices, MPI_Status* statuses) {
  constexpr const char* kCall = "MPI_Testsome";
  const bool usable = completed != nullptr && indices != nullptr && requests != nullptr;
  const OpenLog log = usable ? log_of_caller() : OpenLog();
  if (!log) return PMPI_Testsome(count, requests, completed, indices, statuses);
  const Answer answer = log->poll(kCall, asks_for(*log, count, requests));
  if (answer == Answer::kNo) {
    *completed = 0;
    log->polled(false, kCall);
    return PMPIX_Yield();
  }
  if (answer == Answer::kYes) {
    log->polled(true, kCall);
    return complete_some(*log, kCall, count, requests, completed, indices, statuses, [&] {
      return log->explored_log() != nullptr ? PMPI_Waitsome(count, requests, completed, indices, statuses)
                                            : PMPI_Testsome(count, requests, completed, indices, statuses);
    });
  }
  Completing completing(*log, kCall, count, requests);
  const Deciding deciding(*log, count, requests);
  *completed = 0;
  const int result = PMPI_Testsome(count, requests, completed, indices, statuses);
  const bool over = *completed != 0 || result != MPI_SUCCESS;
  log->polled(over, kCall);
  if (!over) return result;
  note_some(*log, *completed, indices, kCall);
  deciding.completed(*completed, *completed > 0 ? indices[0] : -1);
  completing.returned();
  return result;
}

}  // namespace

const std::vector<Version>& completions() {
  static const std::vector<Version> all{
      version("MPI_Wait", &wait),
      version("MPI_Waitall", &waitall),
      version("MPI_Waitany", &waitany),
      version("MPI_Waitsome", &waitsome),
      version("MPI_Test", &test_one),
      version("MPI_Testall", &testall),
      version("MPI_Testany", &testany),
      version("MPI_Testsome", &testsome),
      version("MPI_Request_get_status", &request_get_status),
      version("MPI_Request_get_status_all", &request_get_status_all),
      version("MPI_Parrived", &parrived),
      version("MPI_Win_test", &win_test),
  };
  return all;
}

}  // namespace tmpi::replay
