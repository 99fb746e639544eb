/* Rounds of messages to and fro between two ranks, always from and to the same buffers:
 *     steady ROUNDS BYTES [test [FILE BEGIN END]]
 * Prints how long a message took, in us: on average, and the median, after some rounds that do not count. With "test" ranks
 * ask again and again whether a message has come or gone, so that nobody sleeps. To FILE BEGIN and END are appended when the
 * rounds that count begin and end. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kUncounted = 20 };
static int asking;

/* Ends a request: by a call that may let the core sleep, or by asking. */
static void finish(MPI_Request* request) {
  if (!asking) MPI_Wait(request, MPI_STATUS_IGNORE);
  for (int done = !asking; !done;) MPI_Test(request, &done, MPI_STATUS_IGNORE);
}

static void transmit(char* out, int bytes, int to) {
  MPI_Request request;
  MPI_Isend(out, bytes, MPI_CHAR, to, 0, MPI_COMM_WORLD, &request);
  finish(&request);
}

static void receive(char* in, int bytes, int from) {
  MPI_Request request;
  MPI_Irecv(in, bytes, MPI_CHAR, from, 0, MPI_COMM_WORLD, &request);
  finish(&request);
}

/* took[i]: seconds of round i. */
static void rounds(int rank, int count, double* took, char* out, char* in, int bytes) {
  for (int i = 0; i < count; i++) {
    const double begun = MPI_Wtime();
    if (rank == 0) transmit(out, bytes, 1);
    receive(in, bytes, 1 - rank);
    if (rank == 1) transmit(out, bytes, 0);
    took[i] = MPI_Wtime() - begun;
  }
}

static int compare(const void* one, const void* other) {
  const double a = *(const double*)one, b = *(const double*)other;
  return (a > b) - (a < b);
}

static void tell(const char* file, const char* text) {
  FILE* stream = fopen(file, "a");
  if (stream == NULL || fputs(text, stream) < 0 || fclose(stream) != 0) MPI_Abort(MPI_COMM_WORLD, 4);
}

int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc < 3) MPI_Abort(MPI_COMM_WORLD, 2);
  asking = argc > 3;
  const int count = atoi(argv[1]), bytes = atoi(argv[2]);
  char* out = malloc((size_t)bytes);
  char* in = malloc((size_t)bytes);
  memset(out, rank, (size_t)bytes);
  memset(in, 2, (size_t)bytes);
  double* took = malloc((size_t)(count > kUncounted ? count : kUncounted) * sizeof *took);
  rounds(rank, kUncounted, took, out, in, bytes);
  const char* file = rank == 0 && argc > 6 ? argv[4] : NULL;
  if (file != NULL) tell(file, argv[5]);
  const double begun = MPI_Wtime();
  rounds(rank, count, took, out, in, bytes);
  const double ended = MPI_Wtime();
  if (file != NULL) tell(file, argv[6]);
  qsort(took, (size_t)count, sizeof *took, compare);
  if (rank == 0)
    printf("steady %.2f typical %.2f\n", (ended - begun) * 1e6 / (2.0 * count), took[count / 2] * 1e6 / 2);
  for (int i = 0; i < bytes; i++)
    if (in[i] != 1 - rank) MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_Finalize();
  return 0;
}
