/* Operations on a file for which there is no stack end with MPI_ERR_NO_MEM, and closing the file waits for none of
 * them. no_stack FILE, one rank. */
#include <mpi.h>
#include <stdio.h>
#include <sys/resource.h>

enum { kOperations = 8 };

int main(int argc, char** argv) {
  char byte = 'x';
  int refused = 0;
  MPI_File file;
  MPI_Request requests[kOperations];
  MPI_Init(&argc, &argv);
  if (MPI_File_open(MPI_COMM_SELF, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                    MPI_INFO_NULL, &file) != MPI_SUCCESS)
    MPI_Abort(MPI_COMM_WORLD, 1);
  struct rlimit before;
  getrlimit(RLIMIT_AS, &before);
  const struct rlimit none = {1 << 20, before.rlim_max}; /* less than there is already */
  setrlimit(RLIMIT_AS, &none);
  for (int i = 0; i < kOperations; i++) MPI_File_iwrite_at_all(file, i, &byte, 1, MPI_BYTE, &requests[i]);
  setrlimit(RLIMIT_AS, &before);
  for (int i = 0; i < kOperations; i++) {
    int error_class = MPI_SUCCESS;
    MPI_Error_class(MPI_Wait(&requests[i], MPI_STATUS_IGNORE), &error_class);
    refused += error_class == MPI_ERR_NO_MEM;
  }
  const int closed = MPI_File_close(&file);
  printf("%d operations refused, closed with %d\n", refused, closed);
  if (refused != kOperations || closed != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Finalize();
  return 0;
}
