// Wait and test calls, cancel, request_free. MPI report, 3.7.3 to 3.7.5, 3.8.4.
#include "mpi/api/profiled.hpp"
#include "mpi/api/request_calls.hpp"
#include "mpi/base/check.hpp"
#include "mpi/base/status.hpp"
#include "mpi/p2p/complete.hpp"
#include "mpi/p2p/p2p.hpp"
#include "mpi/p2p/remote_calls.hpp"
#include "mpi/rank/call.hpp"

namespace tmpi::mpi {
namespace {

// A communicator stays while it is needed, even if an error handler throws.
struct KeptComm {
  explicit KeptComm(Comm* kept) noexcept : comm(kept) {
    if (comm != nullptr) ++comm->references;
  }
  ~KeptComm() {
    if (comm != nullptr) release(*comm);
  }
  KeptComm(const KeptComm&) = delete;
  Comm* const comm;
};

// Concludes one done request; its error goes to the error handler of its communicator.
int conclude_one(const char* name, MPI_Request& handle, Request& request, MPI_Status* status) {
  if (request.error == MPI_SUCCESS && request.extension == nullptr) [[likely]] {
    (void)conclude(handle, request, status).error_class();
    return MPI_SUCCESS;
  }
  const KeptComm kept(request.comm);
  const Err error = guarded([&] { return conclude(handle, request, status); });
  return error ? raise(name, kept.comm, error) : MPI_SUCCESS;
}

// The request behind the handle of a call on one request, which concludes it under that request's error
// handler and hence cannot be a body of on_rank().
[[gnu::always_inline]] inline int look_up(const Frame& frame, const char* name, const MPI_Request* handle,
                                          Request*& request) {
  if (frame.rank() == nullptr) [[unlikely]]
    return raise_not_initialized(name);
  Err error = check_pointer(handle, "request");
  if (!error) error = request_from(*handle, request);
  return error ? raise(name, nullptr, error) : MPI_SUCCESS;
}

Err conclude_index(RequestArray& requests, int i, int* index, MPI_Status* status) {
  *index = i;
  return conclude(requests.handle(i), *requests[i], status);
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int PMPI_Wait(MPI_Request* request, MPI_Status* status) {
  const Frame frame("MPI_Wait");
  Request* r = nullptr;
  if (const int code = look_up(frame, "MPI_Wait", request, r); code != MPI_SUCCESS) [[unlikely]]
    return code;
  if (!is_active(r)) {
    set_empty_status(status);
    return MPI_SUCCESS;
  }
  wait(*r);
  return conclude_one("MPI_Wait", *request, *r, status);
}
TMPI_PROFILED(MPI_Wait);

int PMPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  const Frame frame("MPI_Test");
  Request* r = nullptr;
  if (const int code = look_up(frame, "MPI_Test", request, r); code != MPI_SUCCESS) [[unlikely]]
    return code;
  if (Err error = check_pointer(flag, "flag")) [[unlikely]]
    return raise("MPI_Test", nullptr, error);
  *flag = 1;
  if (!is_active(r)) {
    set_empty_status(status);
    return MPI_SUCCESS;
  }
  note_look(*r);
  if (!r->done()) {
    nothing_yet();
    if (!r->done()) {
      *flag = 0;
      return MPI_SUCCESS;
    }
  }
  found_at_once(*frame.rank());
  return conclude_one("MPI_Test", *request, *r, status);
}
TMPI_PROFILED(MPI_Test);

int PMPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[]) {
  return on_array("MPI_Waitall", count, array_of_requests, [&](RequestArray& requests) -> Err {
    wait_all(requests.data(), requests.size());
    return conclude_all(requests, array_of_statuses);
  });
}
TMPI_PROFILED(MPI_Waitall);

int PMPI_Testall(int count, MPI_Request array_of_requests[], int* flag, MPI_Status array_of_statuses[]) {
  return on_array("MPI_Testall", count, array_of_requests, [&](RequestArray& requests) -> Err {
    TMPI_TRY(check_pointer(flag, "flag"));
    if (!requests.all_done()) nothing_yet();
    *flag = requests.all_done();
    if (!*flag) return kOk;
    found_at_once(requests);
    return conclude_all(requests, array_of_statuses);
  });
}
TMPI_PROFILED(MPI_Testall);

int PMPI_Waitany(int count, MPI_Request array_of_requests[], int* index, MPI_Status* status) {
  return on_array("MPI_Waitany", count, array_of_requests, [&](RequestArray& requests) -> Err {
    TMPI_TRY(check_pointer(index, "index"));
    if (requests.active_count() == 0) {
      *index = MPI_UNDEFINED;
      set_empty_status(status);
      return kOk;
    }
    int done = requests.first_done();
    if (done >= 0) {
      found_at_once(requests);
    } else {
      wait_any(requests.data(), requests.size());
      done = requests.first_done();
    }
    return conclude_index(requests, done, index, status);
  });
}
TMPI_PROFILED(MPI_Waitany);

int PMPI_Testany(int count, MPI_Request array_of_requests[], int* index, int* flag, MPI_Status* status) {
  return on_array("MPI_Testany", count, array_of_requests, [&](RequestArray& requests) -> Err {
    TMPI_TRY(check_pointer(index, "index"));
    TMPI_TRY(check_pointer(flag, "flag"));
    *flag = 1;
    *index = MPI_UNDEFINED;
    if (requests.active_count() == 0) {
      set_empty_status(status);
      return kOk;
    }
    int done = requests.first_done();
    if (done < 0) {
      nothing_yet();
      done = requests.first_done();
    }
    *flag = done >= 0;
    if (done < 0) return kOk;
    found_at_once(requests);
    return conclude_index(requests, done, index, status);
  });
}
TMPI_PROFILED(MPI_Testany);

int PMPI_Waitsome(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
                  MPI_Status array_of_statuses[]) {
  return on_array("MPI_Waitsome", incount, array_of_requests, [&](RequestArray& requests) -> Err {
    TMPI_TRY(check_pointer(outcount, "outcount"));
    *outcount = MPI_UNDEFINED;
    if (requests.active_count() == 0) return kOk;
    TMPI_TRY(check_pointer(array_of_indices, "array_of_indices"));
    if (requests.first_done() >= 0) {
      found_at_once(requests);
    } else {
      wait_any(requests.data(), requests.size());
    }
    return conclude_some(requests, outcount, array_of_indices, array_of_statuses);
  });
}
TMPI_PROFILED(MPI_Waitsome);

int PMPI_Testsome(int incount, MPI_Request array_of_requests[], int* outcount, int array_of_indices[],
                  MPI_Status array_of_statuses[]) {
  return on_array("MPI_Testsome", incount, array_of_requests, [&](RequestArray& requests) -> Err {
    TMPI_TRY(check_pointer(outcount, "outcount"));
    *outcount = MPI_UNDEFINED;
    if (requests.active_count() == 0) return kOk;
    TMPI_TRY(check_pointer(array_of_indices, "array_of_indices"));
    if (requests.first_done() < 0) nothing_yet();
    if (requests.first_done() >= 0) found_at_once(requests);
    return conclude_some(requests, outcount, array_of_indices, array_of_statuses);
  });
}
TMPI_PROFILED(MPI_Testsome);

int PMPI_Request_free(MPI_Request* request) {
  return on_rank("MPI_Request_free", [&](Rank&) -> Err {
    TMPI_TRY(check_pointer(request, "request"));
    Request* r;
    TMPI_TRY(request_from(*request, r));
    if (r == nullptr)
      return fail(MPI_ERR_REQUEST, "the request is MPI_REQUEST_NULL: there is nothing to free");
    return free_request(*request, *r);
  });
}
TMPI_PROFILED(MPI_Request_free);

int PMPI_Cancel(MPI_Request* request) {
  return on_rank("MPI_Cancel", [&](Rank&) -> Err {
    TMPI_TRY(check_pointer(request, "request"));
    Request* r;
    TMPI_TRY(request_from(*request, r));
    if (!is_active(r))
      return fail(MPI_ERR_REQUEST,
                  "only a request in progress can be cancelled; this one is null or inactive");
    return cancel(*r);
  });
}
TMPI_PROFILED(MPI_Cancel);

int PMPI_Test_cancelled(const MPI_Status* status, int* flag) {
  return on_rank("MPI_Test_cancelled", [&](Rank&) -> Err {
    TMPI_TRY(check_pointer(status, "status"));
    TMPI_TRY(check_pointer(flag, "flag"));
    *flag = status_cancelled(*status);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Test_cancelled);

int PMPI_Status_set_cancelled(MPI_Status* status, int flag) {
  return on_rank("MPI_Status_set_cancelled", [&](Rank&) -> Err {
    TMPI_TRY(check_pointer(status, "status"));
    set_status_cancelled(*status, flag != 0);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Status_set_cancelled);
