/* flood LINES LENGTH [stream]: as much output as fast as possible from each rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long lines = atol(argv[1]);
  const int length = atoi(argv[2]);
  char* text = malloc(length + 2);
  memset(text, 'x', length);
  strcpy(text + length, "\n");
  for (long i = 0; i < lines; i++) fputs(text, stdout);
  free(text);
  MPI_Finalize();
  return 0;
}
