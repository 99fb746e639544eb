// The fields of a status, for languages that cannot see them. MPI report, 3.2.5.
#include "mpi/api/profiled.hpp"
#include "mpi/base/check.hpp"
#include "mpi/rank/call.hpp"

namespace tmpi::mpi {
namespace {

int get(const char* name, const MPI_Status* status, int MPI_Status::*field, int* value,
        const char* argument) {
  return anywhere(name, [&]() -> Err {
    TMPI_TRY(check_pointer(status, "status"));
    TMPI_TRY(check_pointer(value, argument));
    *value = status->*field;
    return kOk;
  });
}

int set(const char* name, MPI_Status* status, int MPI_Status::*field, int value) {
  return anywhere(name, [&]() -> Err {
    TMPI_TRY(check_pointer(status, "status"));
    status->*field = value;
    return kOk;
  });
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int PMPI_Status_get_source(const MPI_Status* status, int* source) {
  return get("MPI_Status_get_source", status, &MPI_Status::MPI_SOURCE, source, "source");
}
TMPI_PROFILED(MPI_Status_get_source);

int PMPI_Status_get_tag(const MPI_Status* status, int* tag) {
  return get("MPI_Status_get_tag", status, &MPI_Status::MPI_TAG, tag, "tag");
}
TMPI_PROFILED(MPI_Status_get_tag);

int PMPI_Status_get_error(const MPI_Status* status, int* err) {
  return get("MPI_Status_get_error", status, &MPI_Status::MPI_ERROR, err, "err");
}
TMPI_PROFILED(MPI_Status_get_error);

int PMPI_Status_set_source(MPI_Status* status, int source) {
  return set("MPI_Status_set_source", status, &MPI_Status::MPI_SOURCE, source);
}
TMPI_PROFILED(MPI_Status_set_source);

int PMPI_Status_set_tag(MPI_Status* status, int tag) {
  return set("MPI_Status_set_tag", status, &MPI_Status::MPI_TAG, tag);
}
TMPI_PROFILED(MPI_Status_set_tag);

int PMPI_Status_set_error(MPI_Status* status, int err) {
  return set("MPI_Status_set_error", status, &MPI_Status::MPI_ERROR, err);
}
TMPI_PROFILED(MPI_Status_set_error);
