// Reading and writing by all members of a file's communicator. MPI report, 14.4.2 to 14.4.4.
#include "mpi/api/counted/counted.hpp"
#include "mpi/api/file_calls.hpp"

using namespace tmpi::mpi;

int TMPI_COUNTED(File_read_all)(MPI_File fh, void* buf, Count count, MPI_Datatype datatype,
                                MPI_Status* status) {
  return move_together<Transfer::kRead, Pointer::kIndividual>(TMPI_COUNTED_NAME(File_read_all), fh, 0, buf,
                                                              count, datatype, status);
}
TMPI_COUNTED_PROFILED(File_read_all);

int TMPI_COUNTED(File_iread_all)(MPI_File fh, void* buf, Count count, MPI_Datatype datatype,
                                 MPI_Request* request) {
  return start_together<Transfer::kRead, Pointer::kIndividual>(TMPI_COUNTED_NAME(File_iread_all), fh, 0, buf,
                                                               count, datatype, request);
}
TMPI_COUNTED_PROFILED(File_iread_all);

int TMPI_COUNTED(File_read_at_all)(MPI_File fh, MPI_Offset offset, void* buf, Count count,
                                   MPI_Datatype datatype, MPI_Status* status) {
  return move_together<Transfer::kRead, Pointer::kExplicit>(TMPI_COUNTED_NAME(File_read_at_all), fh, offset,
                                                            buf, count, datatype, status);
}
TMPI_COUNTED_PROFILED(File_read_at_all);

int TMPI_COUNTED(File_iread_at_all)(MPI_File fh, MPI_Offset offset, void* buf, Count count,
                                    MPI_Datatype datatype, MPI_Request* request) {
  return start_together<Transfer::kRead, Pointer::kExplicit>(TMPI_COUNTED_NAME(File_iread_at_all), fh, offset,
                                                             buf, count, datatype, request);
}
TMPI_COUNTED_PROFILED(File_iread_at_all);

int TMPI_COUNTED(File_read_ordered)(MPI_File fh, void* buf, Count count, MPI_Datatype datatype,
                                    MPI_Status* status) {
  return move_together<Transfer::kRead, Pointer::kShared>(TMPI_COUNTED_NAME(File_read_ordered), fh, 0, buf,
                                                          count, datatype, status);
}
TMPI_COUNTED_PROFILED(File_read_ordered);

int TMPI_COUNTED(File_write_all)(MPI_File fh, const void* buf, Count count, MPI_Datatype datatype,
                                 MPI_Status* status) {
  return move_together<Transfer::kWrite, Pointer::kIndividual>(TMPI_COUNTED_NAME(File_write_all), fh, 0, buf,
                                                               count, datatype, status);
}
TMPI_COUNTED_PROFILED(File_write_all);

int TMPI_COUNTED(File_iwrite_all)(MPI_File fh, const void* buf, Count count, MPI_Datatype datatype,
                                  MPI_Request* request) {
  return start_together<Transfer::kWrite, Pointer::kIndividual>(TMPI_COUNTED_NAME(File_iwrite_all), fh, 0,
                                                                buf, count, datatype, request);
}
TMPI_COUNTED_PROFILED(File_iwrite_all);

int TMPI_COUNTED(File_write_at_all)(MPI_File fh, MPI_Offset offset, const void* buf, Count count,
                                    MPI_Datatype datatype, MPI_Status* status) {
  return move_together<Transfer::kWrite, Pointer::kExplicit>(TMPI_COUNTED_NAME(File_write_at_all), fh, offset,
                                                             buf, count, datatype, status);
}
TMPI_COUNTED_PROFILED(File_write_at_all);

int TMPI_COUNTED(File_iwrite_at_all)(MPI_File fh, MPI_Offset offset, const void* buf, Count count,
                                     MPI_Datatype datatype, MPI_Request* request) {
  return start_together<Transfer::kWrite, Pointer::kExplicit>(TMPI_COUNTED_NAME(File_iwrite_at_all), fh,
                                                              offset, buf, count, datatype, request);
}
TMPI_COUNTED_PROFILED(File_iwrite_at_all);

int TMPI_COUNTED(File_write_ordered)(MPI_File fh, const void* buf, Count count, MPI_Datatype datatype,
                                     MPI_Status* status) {
  return move_together<Transfer::kWrite, Pointer::kShared>(TMPI_COUNTED_NAME(File_write_ordered), fh, 0, buf,
                                                           count, datatype, status);
}
TMPI_COUNTED_PROFILED(File_write_ordered);
