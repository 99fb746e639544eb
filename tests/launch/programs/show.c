/* show WORD...: one line per rank: rank, size, working directory, the values of the variables named, and
 * argv[0]. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  char line[4096], directory[1024];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int length = snprintf(line, sizeof line, "%d/%d %s", rank, size, getcwd(directory, sizeof directory));
  for (int i = 1; i < argc; i++) {
    const char* value = getenv(argv[i]);
    length += snprintf(line + length, sizeof line - length, " %s=%s", argv[i], value ? value : "(unset)");
  }
  printf("%s %s\n", line, strrchr(argv[0], '/') ? strrchr(argv[0], '/') + 1 : argv[0]);
  MPI_Finalize();
  return 0;
}
