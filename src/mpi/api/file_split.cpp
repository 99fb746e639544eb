// The second halves of split collectives. MPI report, 14.4.5.
#include "mpi/api/file_calls.hpp"
#include "mpi/api/profiled.hpp"

using namespace tmpi::mpi;

int PMPI_File_read_all_end(MPI_File fh, void* buf, MPI_Status* status) {
  return end_split<Transfer::kRead, Pointer::kIndividual>("MPI_File_read_all_end", fh, buf, status);
}
TMPI_PROFILED(MPI_File_read_all_end);

int PMPI_File_read_at_all_end(MPI_File fh, void* buf, MPI_Status* status) {
  return end_split<Transfer::kRead, Pointer::kExplicit>("MPI_File_read_at_all_end", fh, buf, status);
}
TMPI_PROFILED(MPI_File_read_at_all_end);

int PMPI_File_read_ordered_end(MPI_File fh, void* buf, MPI_Status* status) {
  return end_split<Transfer::kRead, Pointer::kShared>("MPI_File_read_ordered_end", fh, buf, status);
}
TMPI_PROFILED(MPI_File_read_ordered_end);

int PMPI_File_write_all_end(MPI_File fh, const void* buf, MPI_Status* status) {
  return end_split<Transfer::kWrite, Pointer::kIndividual>("MPI_File_write_all_end", fh, buf, status);
}
TMPI_PROFILED(MPI_File_write_all_end);

int PMPI_File_write_at_all_end(MPI_File fh, const void* buf, MPI_Status* status) {
  return end_split<Transfer::kWrite, Pointer::kExplicit>("MPI_File_write_at_all_end", fh, buf, status);
}
TMPI_PROFILED(MPI_File_write_at_all_end);

int PMPI_File_write_ordered_end(MPI_File fh, const void* buf, MPI_Status* status) {
  return end_split<Transfer::kWrite, Pointer::kShared>("MPI_File_write_ordered_end", fh, buf, status);
}
TMPI_PROFILED(MPI_File_write_ordered_end);
