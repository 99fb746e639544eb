// Functions that MPI 3.0 removed, for old programs: each does what its replacement does. MPI report, 16.1.
// For MPI_LB and MPI_UB see datatype/markers.hpp.
#include "mpi/api/datatype_calls.hpp"
#include "mpi/api/profiled.hpp"
#include "mpi/datatype/datatype.hpp"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // TMPI_PROFILED names them

namespace tmpi::mpi {
namespace {

// A bound of a type, as `body(const Datatype&)` says.
template <class Body>
int bound(const char* name, MPI_Datatype handle, MPI_Aint* result, const char* argument, Body&& body) {
  return on_type(name, handle, [&](Datatype& type) -> Err {
    TMPI_TRY(check_pointer(result, argument));
    *result = body(type);
    return kOk;
  });
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int PMPI_Address(void* location, MPI_Aint* address) {
  return PMPI_Get_address(location, address);
}
TMPI_PROFILED(MPI_Address);

int PMPI_Errhandler_create(MPI_Handler_function* function, MPI_Errhandler* errhandler) {
  return PMPI_Comm_create_errhandler(function, errhandler);
}
TMPI_PROFILED(MPI_Errhandler_create);

int PMPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler* errhandler) {
  return PMPI_Comm_get_errhandler(comm, errhandler);
}
TMPI_PROFILED(MPI_Errhandler_get);

int PMPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler) {
  return PMPI_Comm_set_errhandler(comm, errhandler);
}
TMPI_PROFILED(MPI_Errhandler_set);

int PMPI_Type_extent(MPI_Datatype datatype, MPI_Aint* extent) {
  return bound("MPI_Type_extent", datatype, extent, "extent",
               [](const Datatype& type) { return type.extent(); });
}
TMPI_PROFILED(MPI_Type_extent);

int PMPI_Type_lb(MPI_Datatype datatype, MPI_Aint* displacement) {
  return bound("MPI_Type_lb", datatype, displacement, "displacement",
               [](const Datatype& type) { return type.lb(); });
}
TMPI_PROFILED(MPI_Type_lb);

int PMPI_Type_ub(MPI_Datatype datatype, MPI_Aint* displacement) {
  return bound("MPI_Type_ub", datatype, displacement, "displacement",
               [](const Datatype& type) { return type.lb() + type.extent(); });
}
TMPI_PROFILED(MPI_Type_ub);

int PMPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
                      MPI_Datatype* newtype) {
  return PMPI_Type_create_hvector(count, blocklength, stride, oldtype, newtype);
}
TMPI_PROFILED(MPI_Type_hvector);

int PMPI_Type_hindexed(int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[],
                       MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return PMPI_Type_create_hindexed(count, array_of_blocklengths, array_of_displacements, oldtype, newtype);
}
TMPI_PROFILED(MPI_Type_hindexed);

int PMPI_Type_struct(int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[],
                     const MPI_Datatype array_of_types[], MPI_Datatype* newtype) {
  return PMPI_Type_create_struct(count, array_of_blocklengths, array_of_displacements, array_of_types,
                                 newtype);
}
TMPI_PROFILED(MPI_Type_struct);
