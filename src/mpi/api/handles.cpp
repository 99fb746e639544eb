// Integers for handles: the ABI's MPI_X_toint and MPI_X_fromint, and the conversions for Fortran, whose
// INTEGER is an int. MPI report, 19.3.4 and 21.3.3. An integer that belongs to no handle gives the null
// handle. May be called at any time.
#include "mpi/api/profiled.hpp"
#include "mpi/rank/interop.hpp"

namespace tmpi::mpi {
namespace {

static_assert(sizeof(MPI_Fint) == sizeof(int));

template <class Handle>
Handle from_int(int number, Handle null) {
  void* handle = interop().handles.from_int(number);
  return handle != nullptr ? static_cast<Handle>(handle) : null;
}

int to_int(void* handle) {
  return interop().handles.to_int(handle);
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

#define TMPI_HANDLE_CONVERSIONS(Kind, Handle, null) \
  int PMPI_##Kind##_toint(Handle handle) {          \
    return to_int(handle);                          \
  }                                                 \
  Handle PMPI_##Kind##_fromint(int number) {        \
    return from_int<Handle>(number, null);          \
  }                                                 \
  MPI_Fint PMPI_##Kind##_c2f(Handle handle) {       \
    return to_int(handle);                          \
  }                                                 \
  Handle PMPI_##Kind##_f2c(MPI_Fint number) {       \
    return from_int<Handle>(number, null);          \
  }                                                 \
  TMPI_PROFILED(MPI_##Kind##_toint);                \
  TMPI_PROFILED(MPI_##Kind##_fromint);              \
  TMPI_PROFILED(MPI_##Kind##_c2f);                  \
  TMPI_PROFILED(MPI_##Kind##_f2c)

TMPI_HANDLE_CONVERSIONS(Comm, MPI_Comm, MPI_COMM_NULL);
TMPI_HANDLE_CONVERSIONS(Errhandler, MPI_Errhandler, MPI_ERRHANDLER_NULL);
TMPI_HANDLE_CONVERSIONS(File, MPI_File, MPI_FILE_NULL);
TMPI_HANDLE_CONVERSIONS(Group, MPI_Group, MPI_GROUP_NULL);
TMPI_HANDLE_CONVERSIONS(Info, MPI_Info, MPI_INFO_NULL);
TMPI_HANDLE_CONVERSIONS(Message, MPI_Message, MPI_MESSAGE_NULL);
TMPI_HANDLE_CONVERSIONS(Op, MPI_Op, MPI_OP_NULL);
TMPI_HANDLE_CONVERSIONS(Request, MPI_Request, MPI_REQUEST_NULL);
TMPI_HANDLE_CONVERSIONS(Session, MPI_Session, MPI_SESSION_NULL);
TMPI_HANDLE_CONVERSIONS(Type, MPI_Datatype, MPI_DATATYPE_NULL);
TMPI_HANDLE_CONVERSIONS(Win, MPI_Win, MPI_WIN_NULL);
