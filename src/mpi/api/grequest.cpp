// Generalized requests: operations that the program itself carries out. MPI report, 13.2.
#include "mpi/api/profiled.hpp"
#include "mpi/base/check.hpp"
#include "mpi/base/status.hpp"
#include "mpi/p2p/lifecycle.hpp"
#include "mpi/rank/call.hpp"

namespace tmpi::mpi {
namespace {

// What a callback returned is the error of the call that invoked it.
Err of_callback(const char* which, int code) {
  if (code == MPI_SUCCESS) return kOk;
  return fail(code, "the {} of a generalized request returned error {}", which, code);
}

class Generalized final : public RequestExtension {
 public:
  Generalized(MPI_Grequest_query_function* query, MPI_Grequest_free_function* free,
              MPI_Grequest_cancel_function* cancel, void* state)
      : query_(query), free_(free), cancel_(cancel), state_(state) {}

  Err start(Request&) override { return kOk; }

  // The query function always has a status to fill.
  Err outcome(Request&, MPI_Status* status) override {
    MPI_Status own;
    set_empty_status(&own);
    const Err error = of_callback(
        "query_fn", call_program("query_fn of a generalized request", [&] { return query_(state_, &own); }));
    if (status != MPI_STATUS_IGNORE) {
      own.MPI_ERROR = status->MPI_ERROR;  // only the calls with several statuses set it
      *status = own;
    }
    return error;
  }
  Err retire(Request&) override {
    return of_callback("free_fn",
                       call_program("free_fn of a generalized request", [&] { return free_(state_); }));
  }
  Err cancel(Request& request) override {
    return of_callback("cancel_fn", call_program("cancel_fn of a generalized request",
                                                 [&] { return cancel_(state_, request.done()); }));
  }

 private:
  MPI_Grequest_query_function* query_;
  MPI_Grequest_free_function* free_;
  MPI_Grequest_cancel_function* cancel_;
  void* state_;
};

// Also a request that MPI_Request_free was called on: the program completes it by a copy of its handle.
Err generalized_from(MPI_Request handle, Request*& request) {
  if (Err error = request_or_abandoned(handle, request)) return error;
  if (request == nullptr || dynamic_cast<Generalized*>(request->extension.get()) == nullptr)
    return fail(MPI_ERR_REQUEST, "the request was not made by MPI_Grequest_start");
  if (request->done()) return fail(MPI_ERR_REQUEST, "the generalized request has been completed already");
  return kOk;
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int PMPI_Grequest_start(MPI_Grequest_query_function* query_fn, MPI_Grequest_free_function* free_fn,
                        MPI_Grequest_cancel_function* cancel_fn, void* extra_state, MPI_Request* request) {
  return on_rank("MPI_Grequest_start", [&](Rank&) -> Err {
    if (query_fn == nullptr) return null_pointer("query_fn");
    if (free_fn == nullptr) return null_pointer("free_fn");
    if (cancel_fn == nullptr) return null_pointer("cancel_fn");
    TMPI_TRY(check_pointer(request, "request"));
    auto made = std::make_unique<Generalized>(query_fn, free_fn, cancel_fn, extra_state);
    *request = handle_of(create_request(nullptr, std::move(made), false));
    return kOk;
  });
}
TMPI_PROFILED(MPI_Grequest_start);

// A thread that MPI does not know may call it, too: completing a request is safe from any thread, and the
// program's own helper threads are who it is for. free_fn of a freed request is then called by the rank's
// next call that needs a request.
int PMPI_Grequest_complete(MPI_Request request) {
  return anywhere("MPI_Grequest_complete", [&]() -> Err {
    Request* r;
    TMPI_TRY(generalized_from(request, r));
    const bool abandoned = r->magic != Request::kMagic;
    r->complete();
    if (abandoned && calling_flow() != nullptr) current_rank().requests.collect();
    return kOk;
  });
}
TMPI_PROFILED(MPI_Grequest_complete);
