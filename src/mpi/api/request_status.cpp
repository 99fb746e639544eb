// MPI_Request_get_status and its kind: tests that leave the requests as they are. MPI report, 3.7.6.
#include "mpi/api/profiled.hpp"
#include "mpi/api/request_calls.hpp"
#include "mpi/base/status.hpp"

using namespace tmpi::mpi;

namespace {

/// The handles are not written to: only a conclusion does that.
template <class Body>
int on_const_array(const char* name, int count, const MPI_Request* handles, Body&& body) {
  return on_array(name, count, const_cast<MPI_Request*>(handles), body);
}

MPI_Status* status_at(MPI_Status* statuses, int i) noexcept {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

/// The outcomes of several requests: the first error is kept, as MPI_ERR_IN_STATUS if there are statuses to
/// say more.
class Outcomes {
 public:
  void add(Request* request, MPI_Status* status) {
    Err error;
    if (request == nullptr)
      set_empty_status(status);
    else
      error = outcome(*request, status);
    if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = error.error_class();
    if (error && !failed_) {
      failed_ = true;
      text_ = take_explanation();
    }
  }
  Err result() const {
    return failed_ ? fail(MPI_ERR_IN_STATUS, "MPI_ERROR of the statuses says which failed, e.g.: {}", text_)
                   : kOk;
  }

 private:
  bool failed_ = false;
  std::string text_;
};

}  // namespace

int PMPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  return on_rank("MPI_Request_get_status", [&](Rank& rank) -> Err {
    TMPI_TRY(check_pointer(flag, "flag"));
    Request* r;
    TMPI_TRY(request_from(request, r));
    *flag = 1;
    if (!is_active(r)) {
      set_empty_status(status);
      return kOk;
    }
    if (!r->done()) nothing_yet();
    *flag = r->done();
    if (!*flag) return kOk;
    found_at_once(rank);
    return outcome(*r, status);
  });
}
TMPI_PROFILED(MPI_Request_get_status);

int PMPI_Request_get_status_all(int count, const MPI_Request array_of_requests[], int* flag,
                                MPI_Status* array_of_statuses) {
  return on_const_array("MPI_Request_get_status_all", count, array_of_requests,
                        [&](RequestArray& requests) -> Err {
                          TMPI_TRY(check_pointer(flag, "flag"));
                          if (!requests.all_done()) nothing_yet();
                          *flag = requests.all_done();
                          if (*flag) found_at_once(requests);
                          Outcomes outcomes;
                          for (int i = 0; *flag && i < count; ++i)
                            outcomes.add(requests[i], status_at(array_of_statuses, i));
                          return outcomes.result();
                        });
}
TMPI_PROFILED(MPI_Request_get_status_all);

int PMPI_Request_get_status_any(int count, const MPI_Request array_of_requests[], int* indx, int* flag,
                                MPI_Status* status) {
  return on_const_array("MPI_Request_get_status_any", count, array_of_requests,
                        [&](RequestArray& requests) -> Err {
                          TMPI_TRY(check_pointer(indx, "indx"));
                          TMPI_TRY(check_pointer(flag, "flag"));
                          *flag = 1;
                          *indx = MPI_UNDEFINED;
                          if (requests.active_count() == 0) {
                            set_empty_status(status);
                            return kOk;
                          }
                          if (requests.first_done() < 0) nothing_yet();
                          const int done = requests.first_done();
                          *flag = done >= 0;
                          if (done < 0) return kOk;
                          found_at_once(requests);
                          *indx = done;
                          return outcome(*requests[done], status);
                        });
}
TMPI_PROFILED(MPI_Request_get_status_any);

int PMPI_Request_get_status_some(int incount, const MPI_Request array_of_requests[], int* outcount,
                                 int array_of_indices[], MPI_Status* array_of_statuses) {
  return on_const_array("MPI_Request_get_status_some", incount, array_of_requests,
                        [&](RequestArray& requests) -> Err {
                          TMPI_TRY(check_pointer(outcount, "outcount"));
                          *outcount = MPI_UNDEFINED;
                          if (requests.active_count() == 0) return kOk;
                          TMPI_TRY(check_pointer(array_of_indices, "array_of_indices"));
                          if (requests.first_done() < 0) nothing_yet();
                          if (requests.first_done() >= 0) found_at_once(requests);
                          Outcomes outcomes;
                          *outcount = 0;
                          for (int i = 0; i < incount; ++i) {
                            if (requests[i] == nullptr || !requests[i]->done()) continue;
                            outcomes.add(requests[i], status_at(array_of_statuses, *outcount));
                            array_of_indices[(*outcount)++] = i;
                          }
                          return outcomes.result();
                        });
}
TMPI_PROFILED(MPI_Request_get_status_some);
