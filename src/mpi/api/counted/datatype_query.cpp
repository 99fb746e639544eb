// Sizes and extents of datatypes, counts of received elements. MPI report, 3.2.5, 5.1.5 to 5.1.8, 5.1.11,
// 13.3.
#include "mpi/api/counted/counted.hpp"
#include "mpi/api/datatype_calls.hpp"

using namespace tmpi::mpi;

int TMPI_COUNTED(Type_size)(MPI_Datatype datatype, Count* size) {
  return type_size(TMPI_COUNTED_NAME(Type_size), datatype, size);
}
TMPI_COUNTED_PROFILED(Type_size);

int TMPI_COUNTED(Type_get_extent)(MPI_Datatype datatype, ByteCount* lb, ByteCount* extent) {
  return type_extent(TMPI_COUNTED_NAME(Type_get_extent), datatype, lb, extent);
}
TMPI_COUNTED_PROFILED(Type_get_extent);

int TMPI_COUNTED(Type_get_true_extent)(MPI_Datatype datatype, ByteCount* true_lb, ByteCount* true_extent) {
  return type_true_extent(TMPI_COUNTED_NAME(Type_get_true_extent), datatype, true_lb, true_extent);
}
TMPI_COUNTED_PROFILED(Type_get_true_extent);

int TMPI_COUNTED(Get_count)(const MPI_Status* status, MPI_Datatype datatype, Count* count) {
  return count_of(TMPI_COUNTED_NAME(Get_count), status, datatype, count, whole_count);
}
TMPI_COUNTED_PROFILED(Get_count);

int TMPI_COUNTED(Get_elements)(const MPI_Status* status, MPI_Datatype datatype, Count* count) {
  return count_of(TMPI_COUNTED_NAME(Get_elements), status, datatype, count, element_count);
}
TMPI_COUNTED_PROFILED(Get_elements);

int TMPI_COUNTED(Status_set_elements)(MPI_Status* status, MPI_Datatype datatype, Count count) {
  return set_elements(TMPI_COUNTED_NAME(Status_set_elements), status, datatype, count);
}
TMPI_COUNTED_PROFILED(Status_set_elements);
