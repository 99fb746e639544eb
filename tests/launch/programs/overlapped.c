/* Progress without calls: each rank posts large receives and sends (or a nonblocking reduction) with ranks of the other
 * node, and then computes, without calling MPI, until the data are there, which it sees in its buffer.
 *
 *   overlapped messages|spread|idle SECONDS    gives up after so long, with exit code 3
 *
 * idle: nothing is under way; prints how often the progress thread was woken while the rank computed for so long: the first such time in which it
 * was not, or the last of ten.
 */
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BYTES = 1 << 20, MESSAGES = 4 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static long wake_ups(void) {
  long count = -1;
  DIR* tasks = opendir("/proc/self/task");
  for (struct dirent* entry; (entry = readdir(tasks)) != NULL;) {
    char path[300], line[200];
    snprintf(path, sizeof path, "/proc/self/task/%s/status", entry->d_name);
    FILE* status = fopen(path, "r");
    if (status == NULL) continue;
    int ours = 0;
    while (fgets(line, sizeof line, status) != NULL) {
      ours |= strncmp(line, "Name:\ttmpi-progress\n", 20) == 0;
      if (ours) sscanf(line, "voluntary_ctxt_switches: %ld", &count);
    }
    fclose(status);
  }
  closedir(tasks);
  return count;
}

static void compute(double seconds) {
  for (double end = now() + seconds; now() < end;) {
  }
}

/* All there, as the last byte of each message says. */
static int arrived(volatile char* in, int round) {
  for (int i = 0; i < MESSAGES; i++)
    if (in[(size_t)(i + 1) * BYTES - 1] != (char)round) return 0;
  return 1;
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const double seconds = atof(argv[2]);
  if (strcmp(argv[1], "idle") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    /* What is still under way is no cause for a failure, be it the last message of the barrier or the end of a rank that was quicker: a thread
     * that is woken without a cause is woken in each of these times. */
    long before = -2, meanwhile = -1;
    for (int i = 0; i < 10 && meanwhile != 0; i++) {
      before = wake_ups();
      compute(seconds);
      meanwhile = wake_ups() - before;
    }
    printf("%ld %ld\n", before, meanwhile);
    MPI_Finalize();
    return 0;
  }
  const int spread = strcmp(argv[1], "spread") == 0, half = size / 2;
  char* out = malloc((size_t)MESSAGES * BYTES);
  char* in = calloc(MESSAGES, BYTES);
  MPI_Request requests[2 * MESSAGES];
  for (int round = 1; round <= 3; round++) {
    memset(out, round, (size_t)MESSAGES * BYTES);
    /* Of the other half; spread: different ones. */
    for (int i = 0; i < MESSAGES; i++) {
      int step = spread ? i % half : 0;
      int to = rank < half ? half + (rank + step) % half : (rank + step) % half;
      int from = rank < half ? half + (rank - step + half) % half : (rank - step) % half;
      if (rank >= half) from = (rank - step) % half;
      MPI_Irecv(in + (size_t)i * BYTES, BYTES, MPI_CHAR, from, i, MPI_COMM_WORLD, &requests[i]);
      MPI_Isend(out + (size_t)i * BYTES, BYTES, MPI_CHAR, to, i, MPI_COMM_WORLD, &requests[MESSAGES + i]);
    }
    /* With several ranks on a core each gives the others their turn to post before it computes. */
    MPI_Request everybody;
    MPI_Ibarrier(MPI_COMM_WORLD, &everybody);
    MPI_Wait(&everybody, MPI_STATUS_IGNORE);
    double end = now() + seconds;
    while (!arrived(in, round) && now() < end) {
    }
    if (!arrived(in, round)) {
      printf("rank %d: round %d did not come while all computed\n", rank, round);
      fflush(stdout);
      MPI_Abort(MPI_COMM_WORLD, 3);
    }
    MPI_Waitall(2 * MESSAGES, requests, MPI_STATUSES_IGNORE);
    for (size_t i = 0; i < (size_t)MESSAGES * BYTES; i += 997)
      if (in[i] != (char)round) MPI_Abort(MPI_COMM_WORLD, 4);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
