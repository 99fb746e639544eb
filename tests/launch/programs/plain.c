/* No MPI at all: a job of ordinary programs. plain [CODE]: rank r exits with CODE + r if CODE is given. */
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  const int rank = atoi(getenv("TMPI_COMM_WORLD_RANK"));
  printf("plain %d\n", rank);
  return argc > 1 ? atoi(argv[1]) + rank : 0;
}
