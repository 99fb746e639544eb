// MPI_Type_contiguous, MPI_Type_vector, ... : the type constructors. MPI report, 5.1.2 to 5.1.4, 5.1.7.
#include "mpi/api/counted/counted.hpp"
#include "mpi/api/datatype_calls.hpp"
#include "mpi/datatype/arrays.hpp"
#include "mpi/datatype/construct.hpp"
#include "mpi/datatype/markers.hpp"

using namespace tmpi::mpi;

int TMPI_COUNTED(Type_contiguous)(Count count, MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return construct_from(
      TMPI_COUNTED_NAME(Type_contiguous), oldtype, newtype,
      [&](const Datatype& old, Datatype*& type) { return construct_contiguous(count, old, type); });
}
TMPI_COUNTED_PROFILED(Type_contiguous);

int TMPI_COUNTED(Type_vector)(Count count, Count blocklength, Count stride, MPI_Datatype oldtype,
                              MPI_Datatype* newtype) {
  return construct_from(TMPI_COUNTED_NAME(Type_vector), oldtype, newtype,
                        [&](const Datatype& old, Datatype*& type) {
                          return construct_vector(count, blocklength, stride, old, type);
                        });
}
TMPI_COUNTED_PROFILED(Type_vector);

int TMPI_COUNTED(Type_create_hvector)(Count count, Count blocklength, ByteCount stride, MPI_Datatype oldtype,
                                      MPI_Datatype* newtype) {
  return construct_from(TMPI_COUNTED_NAME(Type_create_hvector), oldtype, newtype,
                        [&](const Datatype& old, Datatype*& type) {
                          return construct_hvector(count, blocklength, stride, old, type);
                        });
}
TMPI_COUNTED_PROFILED(Type_create_hvector);

int TMPI_COUNTED(Type_indexed)(Count count, const Count blocklengths[], const Count displacements[],
                               MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return construct_from(TMPI_COUNTED_NAME(Type_indexed), oldtype, newtype,
                        [&](const Datatype& old, Datatype*& type) {
                          return construct_indexed(count, blocklengths, displacements, old, type);
                        });
}
TMPI_COUNTED_PROFILED(Type_indexed);

int TMPI_COUNTED(Type_create_hindexed)(Count count, const Count blocklengths[],
                                       const ByteCount displacements[], MPI_Datatype oldtype,
                                       MPI_Datatype* newtype) {
  return construct_from(TMPI_COUNTED_NAME(Type_create_hindexed), oldtype, newtype,
                        [&](const Datatype& old, Datatype*& type) {
                          return construct_hindexed(count, blocklengths, displacements, old, type);
                        });
}
TMPI_COUNTED_PROFILED(Type_create_hindexed);

int TMPI_COUNTED(Type_create_indexed_block)(Count count, Count blocklength, const Count displacements[],
                                            MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return construct_from(TMPI_COUNTED_NAME(Type_create_indexed_block), oldtype, newtype,
                        [&](const Datatype& old, Datatype*& type) {
                          return construct_indexed_block(count, blocklength, displacements, old, type);
                        });
}
TMPI_COUNTED_PROFILED(Type_create_indexed_block);

int TMPI_COUNTED(Type_create_hindexed_block)(Count count, Count blocklength, const ByteCount displacements[],
                                             MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return construct_from(TMPI_COUNTED_NAME(Type_create_hindexed_block), oldtype, newtype,
                        [&](const Datatype& old, Datatype*& type) {
                          return construct_hindexed_block(count, blocklength, displacements, old, type);
                        });
}
TMPI_COUNTED_PROFILED(Type_create_hindexed_block);

int TMPI_COUNTED(Type_create_struct)(Count count, const Count blocklengths[], const ByteCount displacements[],
                                     const MPI_Datatype types[], MPI_Datatype* newtype) {
  return construct(TMPI_COUNTED_NAME(Type_create_struct), newtype, [&](Datatype*& type) {
    if (has_markers(count, types))
      return construct_marked_struct(count, blocklengths, displacements, types, type);
    return construct_struct(count, blocklengths, displacements, types, type);
  });
}
TMPI_COUNTED_PROFILED(Type_create_struct);

int TMPI_COUNTED(Type_create_subarray)(int ndims, const Count sizes[], const Count subsizes[],
                                       const Count starts[], int order, MPI_Datatype oldtype,
                                       MPI_Datatype* newtype) {
  return construct_from(TMPI_COUNTED_NAME(Type_create_subarray), oldtype, newtype,
                        [&](const Datatype& old, Datatype*& type) {
                          return construct_subarray(ndims, sizes, subsizes, starts, order, old, type);
                        });
}
TMPI_COUNTED_PROFILED(Type_create_subarray);

int TMPI_COUNTED(Type_create_darray)(int size, int rank, int ndims, const Count gsizes[],
                                     const int distribs[], const int dargs[], const int psizes[], int order,
                                     MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return construct_from(
      TMPI_COUNTED_NAME(Type_create_darray), oldtype, newtype, [&](const Datatype& old, Datatype*& type) {
        return construct_darray({size, rank, ndims, distribs, dargs, psizes, order}, gsizes, old, type);
      });
}
TMPI_COUNTED_PROFILED(Type_create_darray);

int TMPI_COUNTED(Type_create_resized)(MPI_Datatype oldtype, ByteCount lb, ByteCount extent,
                                      MPI_Datatype* newtype) {
  return construct_from(TMPI_COUNTED_NAME(Type_create_resized), oldtype, newtype,
                        [&](const Datatype& old, Datatype*& type) {
                          return construct_resized(old, lb, extent, kLargeCounts, type);
                        });
}
TMPI_COUNTED_PROFILED(Type_create_resized);
