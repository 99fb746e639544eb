/* raw: output past the per-rank streams, from a child process of every rank. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int failed = system("echo raw out; echo raw err >&2");
  MPI_Finalize();
  return failed != 0;
}
