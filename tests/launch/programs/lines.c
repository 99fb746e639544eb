/* lines COUNT LENGTH: every rank prints COUNT lines of about LENGTH letters, alternately to stdout and
 * stderr, in pieces, and ends with an incomplete line. The reader can check each line by itself: "RANK NUMBER
 * letters". */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int count = atoi(argv[1]);
  const int length = atoi(argv[2]);
  char* text = malloc(length + 1);
  memset(text, 'a' + rank % 26, length);
  text[length] = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < count; i++) {
    FILE* to = i % 2 == 0 ? stdout : stderr;
    fprintf(to, "%d %d ", rank, i);
    fflush(to);
    if (i % 3 == 0) MPI_Barrier(MPI_COMM_WORLD);
    fprintf(to, "%.*s", length / 2, text);
    fflush(to);
    fprintf(to, "%s\n", text + length / 2);
  }
  printf("%d end", rank);
  free(text);
  MPI_Finalize();
  return 0;
}
