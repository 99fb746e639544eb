/* writes_file DIRECTORY KIB [RANK HOW]: every rank writes a file of so many KiB, rank RANK one of 1 MiB; HOW: "default"
 * leaves SIGXFSZ alone, "ignore" ignores it, "handle" counts it. There is more data than a small limit on files. */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char data[1 << 20] = {1};
static int signals;

static void count(int number) {
  (void)number;
  ++signals;
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int large = argc > 3 && atoi(argv[3]) == rank;
  if (large && strcmp(argv[4], "ignore") == 0) signal(SIGXFSZ, SIG_IGN);
  if (large && strcmp(argv[4], "handle") == 0) signal(SIGXFSZ, count);
  char name[4096];
  snprintf(name, sizeof name, "%s/%d", argv[1], rank);
  const int fd = open(name, O_CREAT | O_WRONLY, 0600);
  const size_t wanted = large ? sizeof data : (size_t)atoi(argv[2]) << 10;
  size_t written = 0;
  ssize_t more;
  while (written < wanted && (more = write(fd, data + written, wanted - written)) > 0)
    written += (size_t)more;
  const int error = written < wanted ? errno : 0;
  close(fd);
  for (int i = 0; i < 1000; ++i) MPI_Barrier(MPI_COMM_WORLD); /* a trace is larger than the limit, too */
  int correct = large ? error == EFBIG && signals == (strcmp(argv[4], "handle") == 0) : written == wanted,
      all;
  MPI_Reduce(&correct, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d of %d\n", all, size);
  MPI_Finalize();
  return 0;
}
