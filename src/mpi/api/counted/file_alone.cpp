// Reading and writing by one rank. MPI report, 14.4.2 to 14.4.4.
#include "mpi/api/counted/counted.hpp"
#include "mpi/api/file_calls.hpp"

using namespace tmpi::mpi;

int TMPI_COUNTED(File_read)(MPI_File fh, void* buf, Count count, MPI_Datatype datatype, MPI_Status* status) {
  return move_alone<Transfer::kRead, Pointer::kIndividual>(TMPI_COUNTED_NAME(File_read), fh, 0, buf, count,
                                                           datatype, status);
}
TMPI_COUNTED_PROFILED(File_read);

int TMPI_COUNTED(File_iread)(MPI_File fh, void* buf, Count count, MPI_Datatype datatype,
                             MPI_Request* request) {
  return start_alone<Transfer::kRead, Pointer::kIndividual>(TMPI_COUNTED_NAME(File_iread), fh, 0, buf, count,
                                                            datatype, request);
}
TMPI_COUNTED_PROFILED(File_iread);

int TMPI_COUNTED(File_read_at)(MPI_File fh, MPI_Offset offset, void* buf, Count count, MPI_Datatype datatype,
                               MPI_Status* status) {
  return move_alone<Transfer::kRead, Pointer::kExplicit>(TMPI_COUNTED_NAME(File_read_at), fh, offset, buf,
                                                         count, datatype, status);
}
TMPI_COUNTED_PROFILED(File_read_at);

int TMPI_COUNTED(File_iread_at)(MPI_File fh, MPI_Offset offset, void* buf, Count count, MPI_Datatype datatype,
                                MPI_Request* request) {
  return start_alone<Transfer::kRead, Pointer::kExplicit>(TMPI_COUNTED_NAME(File_iread_at), fh, offset, buf,
                                                          count, datatype, request);
}
TMPI_COUNTED_PROFILED(File_iread_at);

int TMPI_COUNTED(File_read_shared)(MPI_File fh, void* buf, Count count, MPI_Datatype datatype,
                                   MPI_Status* status) {
  return move_alone<Transfer::kRead, Pointer::kShared>(TMPI_COUNTED_NAME(File_read_shared), fh, 0, buf, count,
                                                       datatype, status);
}
TMPI_COUNTED_PROFILED(File_read_shared);

int TMPI_COUNTED(File_iread_shared)(MPI_File fh, void* buf, Count count, MPI_Datatype datatype,
                                    MPI_Request* request) {
  return start_alone<Transfer::kRead, Pointer::kShared>(TMPI_COUNTED_NAME(File_iread_shared), fh, 0, buf,
                                                        count, datatype, request);
}
TMPI_COUNTED_PROFILED(File_iread_shared);

int TMPI_COUNTED(File_write)(MPI_File fh, const void* buf, Count count, MPI_Datatype datatype,
                             MPI_Status* status) {
  return move_alone<Transfer::kWrite, Pointer::kIndividual>(TMPI_COUNTED_NAME(File_write), fh, 0, buf, count,
                                                            datatype, status);
}
TMPI_COUNTED_PROFILED(File_write);

int TMPI_COUNTED(File_iwrite)(MPI_File fh, const void* buf, Count count, MPI_Datatype datatype,
                              MPI_Request* request) {
  return start_alone<Transfer::kWrite, Pointer::kIndividual>(TMPI_COUNTED_NAME(File_iwrite), fh, 0, buf,
                                                             count, datatype, request);
}
TMPI_COUNTED_PROFILED(File_iwrite);

int TMPI_COUNTED(File_write_at)(MPI_File fh, MPI_Offset offset, const void* buf, Count count,
                                MPI_Datatype datatype, MPI_Status* status) {
  return move_alone<Transfer::kWrite, Pointer::kExplicit>(TMPI_COUNTED_NAME(File_write_at), fh, offset, buf,
                                                          count, datatype, status);
}
TMPI_COUNTED_PROFILED(File_write_at);

int TMPI_COUNTED(File_iwrite_at)(MPI_File fh, MPI_Offset offset, const void* buf, Count count,
                                 MPI_Datatype datatype, MPI_Request* request) {
  return start_alone<Transfer::kWrite, Pointer::kExplicit>(TMPI_COUNTED_NAME(File_iwrite_at), fh, offset, buf,
                                                           count, datatype, request);
}
TMPI_COUNTED_PROFILED(File_iwrite_at);

int TMPI_COUNTED(File_write_shared)(MPI_File fh, const void* buf, Count count, MPI_Datatype datatype,
                                    MPI_Status* status) {
  return move_alone<Transfer::kWrite, Pointer::kShared>(TMPI_COUNTED_NAME(File_write_shared), fh, 0, buf,
                                                        count, datatype, status);
}
TMPI_COUNTED_PROFILED(File_write_shared);

int TMPI_COUNTED(File_iwrite_shared)(MPI_File fh, const void* buf, Count count, MPI_Datatype datatype,
                                     MPI_Request* request) {
  return start_alone<Transfer::kWrite, Pointer::kShared>(TMPI_COUNTED_NAME(File_iwrite_shared), fh, 0, buf,
                                                         count, datatype, request);
}
TMPI_COUNTED_PROFILED(File_iwrite_shared);
