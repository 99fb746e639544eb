// The first halves of split collectives. MPI report, 14.4.5.
#include "mpi/api/counted/counted.hpp"
#include "mpi/api/file_calls.hpp"

using namespace tmpi::mpi;

int TMPI_COUNTED(File_read_all_begin)(MPI_File fh, void* buf, Count count, MPI_Datatype datatype) {
  return begin_split<Transfer::kRead, Pointer::kIndividual>(TMPI_COUNTED_NAME(File_read_all_begin), fh, 0,
                                                            buf, count, datatype);
}
TMPI_COUNTED_PROFILED(File_read_all_begin);

int TMPI_COUNTED(File_read_at_all_begin)(MPI_File fh, MPI_Offset offset, void* buf, Count count,
                                         MPI_Datatype datatype) {
  return begin_split<Transfer::kRead, Pointer::kExplicit>(TMPI_COUNTED_NAME(File_read_at_all_begin), fh,
                                                          offset, buf, count, datatype);
}
TMPI_COUNTED_PROFILED(File_read_at_all_begin);

int TMPI_COUNTED(File_read_ordered_begin)(MPI_File fh, void* buf, Count count, MPI_Datatype datatype) {
  return begin_split<Transfer::kRead, Pointer::kShared>(TMPI_COUNTED_NAME(File_read_ordered_begin), fh, 0,
                                                        buf, count, datatype);
}
TMPI_COUNTED_PROFILED(File_read_ordered_begin);

int TMPI_COUNTED(File_write_all_begin)(MPI_File fh, const void* buf, Count count, MPI_Datatype datatype) {
  return begin_split<Transfer::kWrite, Pointer::kIndividual>(TMPI_COUNTED_NAME(File_write_all_begin), fh, 0,
                                                             buf, count, datatype);
}
TMPI_COUNTED_PROFILED(File_write_all_begin);

int TMPI_COUNTED(File_write_at_all_begin)(MPI_File fh, MPI_Offset offset, const void* buf, Count count,
                                          MPI_Datatype datatype) {
  return begin_split<Transfer::kWrite, Pointer::kExplicit>(TMPI_COUNTED_NAME(File_write_at_all_begin), fh,
                                                           offset, buf, count, datatype);
}
TMPI_COUNTED_PROFILED(File_write_at_all_begin);

int TMPI_COUNTED(File_write_ordered_begin)(MPI_File fh, const void* buf, Count count, MPI_Datatype datatype) {
  return begin_split<Transfer::kWrite, Pointer::kShared>(TMPI_COUNTED_NAME(File_write_ordered_begin), fh, 0,
                                                         buf, count, datatype);
}
TMPI_COUNTED_PROFILED(File_write_ordered_begin);
