// Error handlers of communicators, windows and sessions, the making of those of files, and what all kinds have in common. MPI report, 9.3.
#include "mpi/base/errhandler.hpp"

#include "mpi/api/profiled.hpp"
#include "mpi/api/window_calls.hpp"
#include "mpi/base/check.hpp"
#include "mpi/rank/call.hpp"

namespace tmpi::mpi {
namespace {

// Handlers may be made and freed before MPI_Init (sessions are born with one).
template <class Callback>
int create(const char* name, Raiser kind, Callback* function, MPI_Errhandler* errhandler) {
  return anywhere(name, [&]() -> Err {
    TMPI_TRY(check_pointer(reinterpret_cast<const void*>(function), "the error handler's function"));
    TMPI_TRY(check_pointer(errhandler, "errhandler"));
    auto* handler = new Errhandler;
    handler->kind = kind;
    handler->function = reinterpret_cast<Errhandler::Function>(function);
    *errhandler = handle_of(handler);
    return kOk;
  });
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function* comm_errhandler_fn,
                                MPI_Errhandler* errhandler) {
  return create("MPI_Comm_create_errhandler", Raiser::kComm, comm_errhandler_fn, errhandler);
}
TMPI_PROFILED(MPI_Comm_create_errhandler);

int PMPI_File_create_errhandler(MPI_File_errhandler_function* file_errhandler_fn,
                                MPI_Errhandler* errhandler) {
  return create("MPI_File_create_errhandler", Raiser::kFile, file_errhandler_fn, errhandler);
}
TMPI_PROFILED(MPI_File_create_errhandler);

int PMPI_Session_create_errhandler(MPI_Session_errhandler_function* session_errhandler_fn,
                                   MPI_Errhandler* errhandler) {
  return create("MPI_Session_create_errhandler", Raiser::kSession, session_errhandler_fn, errhandler);
}
TMPI_PROFILED(MPI_Session_create_errhandler);

int PMPI_Win_create_errhandler(MPI_Win_errhandler_function* win_errhandler_fn, MPI_Errhandler* errhandler) {
  return create("MPI_Win_create_errhandler", Raiser::kWin, win_errhandler_fn, errhandler);
}
TMPI_PROFILED(MPI_Win_create_errhandler);

int PMPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler) {
  return on_win("MPI_Win_set_errhandler", win,
                [&](Window& w) { return set_errhandler(w.errhandler, Raiser::kWin, errhandler); });
}
TMPI_PROFILED(MPI_Win_set_errhandler);

int PMPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler* errhandler) {
  return on_win("MPI_Win_get_errhandler", win,
                [&](Window& w) { return get_errhandler(w.errhandler, errhandler); });
}
TMPI_PROFILED(MPI_Win_get_errhandler);

int PMPI_Win_call_errhandler(MPI_Win win, int errorcode) {
  const char* name = "MPI_Win_call_errhandler";
  const Frame frame(name);  // around the handler, too, which may throw
  ErrorTarget target{};
  const int code = on_win(name, win, [&](Window& w) -> Err {
    target = target_of(w);
    return kOk;
  });
  if (code == MPI_SUCCESS) call_errhandler(name, target, errorcode);
  return code;
}
TMPI_PROFILED(MPI_Win_call_errhandler);

int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler) {
  return on_coming_comm("MPI_Comm_set_errhandler", comm,
                        [&](Comm& c) { return set_errhandler(c.errhandler, Raiser::kComm, errhandler); });
}
TMPI_PROFILED(MPI_Comm_set_errhandler);

int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler* errhandler) {
  return on_comm("MPI_Comm_get_errhandler", comm,
                 [&](Comm& c) { return get_errhandler(c.errhandler, errhandler); });
}
TMPI_PROFILED(MPI_Comm_get_errhandler);

int PMPI_Comm_call_errhandler(MPI_Comm comm, int errorcode) {
  const char* name = "MPI_Comm_call_errhandler";
  const Frame frame(name);  // around the handler, too, which may throw
  ErrorTarget target{};
  const int code = on_comm(name, comm, [&](Comm& c) -> Err {
    target = target_of(c);
    return kOk;
  });
  if (code == MPI_SUCCESS) call_errhandler(name, target, errorcode);
  return code;
}
TMPI_PROFILED(MPI_Comm_call_errhandler);

int PMPI_Errhandler_free(MPI_Errhandler* errhandler) {
  return anywhere("MPI_Errhandler_free", [&]() -> Err {
    TMPI_TRY(check_pointer(errhandler, "errhandler"));
    Errhandler* handler = errhandler_from(*errhandler);
    if (handler == nullptr)
      return fail(MPI_ERR_ERRHANDLER, "{} is no error handler",
                  *errhandler == MPI_ERRHANDLER_NULL ? "MPI_ERRHANDLER_NULL" : "the handle");
    release(handler);
    *errhandler = MPI_ERRHANDLER_NULL;
    return kOk;
  });
}
TMPI_PROFILED(MPI_Errhandler_free);
