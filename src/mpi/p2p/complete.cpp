#include "mpi/p2p/complete.hpp"

#include <cstdlib>

#include "mpi/base/status.hpp"
#include "mpi/p2p/remote_calls.hpp"

namespace tmpi::mpi {

RequestArray::~RequestArray() {
  if (requests_ != inline_) std::free(requests_);
  if (comm_ != nullptr) release(*comm_);
}

Err RequestArray::look_up() {
  if (size() > kInline) {
    requests_ = static_cast<Request**>(std::malloc(handles_.size() * sizeof(Request*)));
    if (requests_ == nullptr) {
      requests_ = inline_;
      return fail(MPI_ERR_NO_MEM, "no memory to wait for {} requests", handles_.size());
    }
  }
  for (int i = 0; i < size(); ++i) {
    TMPI_TRY(request_from(handle(i), requests_[i]));
    if (is_active(requests_[i])) {
      ++active_;
      note_look(*requests_[i]);
      if (comm_ == nullptr && requests_[i]->comm != nullptr) {
        comm_ = requests_[i]->comm;
        ++comm_->references;
      }
    } else {
      requests_[i] = nullptr;
    }
  }
  return kOk;
}

int RequestArray::first_done() const noexcept {
  for (int i = 0; i < size(); ++i) {
    if (requests_[i] != nullptr && requests_[i]->done()) return i;
  }
  return -1;
}

bool RequestArray::all_done() const noexcept {
  for (int i = 0; i < size(); ++i) {
    if (requests_[i] != nullptr && !requests_[i]->done()) return false;
  }
  return true;
}

namespace {

Err in_status(int failed, Err error) {
  std::string why = take_explanation();
  return fail(MPI_ERR_IN_STATUS,
              "{} of the requests failed (MPI_ERROR of each status says how), e.g. with error class {}: {}",
              failed, error.error_class(), why);
}

}  // namespace

Err conclude_all(RequestArray& requests, MPI_Status* statuses) {
  int failed = 0;
  Err first_error;
  for (int i = 0; i < requests.size(); ++i) {
    MPI_Status* status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
    Err error;
    if (requests[i] == nullptr) {
      set_empty_status(status);
    } else {
      error = conclude(requests.handle(i), *requests[i], status);
    }
    if (error) {
      if (failed++ == 0) first_error = error;
      // Only now are the MPI_ERROR fields defined: fill those that were left out.
      if (failed == 1 && status != MPI_STATUS_IGNORE) {
        for (int j = 0; j < i; ++j) statuses[j].MPI_ERROR = MPI_SUCCESS;
      }
    }
    if (failed > 0 && status != MPI_STATUS_IGNORE) status->MPI_ERROR = error.error_class();
  }
  return failed == 0 ? kOk : in_status(failed, first_error);
}

Err conclude_some(RequestArray& requests, int* count, int* indices, MPI_Status* statuses) {
  int found = 0;
  int failed = 0;
  Err first_error;
  for (int i = 0; i < requests.size(); ++i) {
    if (requests[i] == nullptr || !requests[i]->done()) continue;
    MPI_Status* status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[found];
    Err error = conclude(requests.handle(i), *requests[i], status);
    if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = error.error_class();
    if (error && failed++ == 0) first_error = error;
    indices[found++] = i;
  }
  *count = found;
  return failed == 0 ? kOk : in_status(failed, first_error);
}

}  // namespace tmpi::mpi
