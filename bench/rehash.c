/* rehash: all ranks gather each other's strings with MPI_Allgather, and each makes its next one of every size-th
 * character of the result, as in Synch_global of the Parallel Research Kernels (Van der Wijngaart and Mattson, 2014):
 * nobody can begin an iteration before everybody has ended the one before.
 */
#include "bench.h"

enum { kMostBatches = 1000 };

static void usage(void) {
  printf(
      "usage: rehash [--length N] [--iterations N] [--batches N]\n"
      "  --length N      of the gathered string, a multiple of the number of ranks (default 64)\n"
      "  --iterations N  of a batch (default 10000)\n"
      "  --batches N     that are timed, after one that does not count (default 15)\n");
}

static int sum_of(const char* digits, long n) {
  int sum = 0;
  for (long i = 0; i < n; i++) sum += digits[i] - '0';
  return sum;
}

int main(int argc, char** argv) {
  static const char kDigits[] = "27638472638746283742712311207892";
  static double seconds[kMostBatches];
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  long length = option_number(argc, argv, "--length", 64),
       iterations = option_number(argc, argv, "--iterations", 10000);
  int batches = (int)option_number(argc, argv, "--batches", 15);
  int wrong = length < size || length % size != 0 || iterations < 1 || batches < 1 || batches > kMostBatches;
  if (option_given(argc, argv, "--help") || wrong) {
    if (rank == 0) usage();
    MPI_Finalize();
    return wrong ? 2 : 0;
  }
  long part = length / size;
  char *own = bench_memory((size_t)part), *all = bench_memory((size_t)length);
  for (long i = 0; i < part; i++) own[i] = kDigits[i % 32];
  int expected = size * sum_of(own, part);
  MPI_Datatype word;
  MPI_Type_contiguous((int)part, MPI_CHAR, &word);
  MPI_Type_commit(&word);
  for (int batch = -1; batch < batches; batch++) {
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (long n = 0; n < iterations; n++) {
      MPI_Allgather(own, 1, word, all, 1, word, MPI_COMM_WORLD);
      for (long i = 0; i < part; i++) own[i] = all[rank + i * size];
    }
    if (batch >= 0) seconds[batch] = MPI_Wtime() - start;
  }
  int right = sum_of(all, length) == expected, all_right;
  MPI_Allreduce(&right, &all_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (!all_right && rank == 0) fprintf(stderr, "rehash: digits were lost\n");
  if (rank == 0) {
    double median = median_of(seconds, batches), scale = 1e9 / (double)iterations;
    printf("# name ranks length median_ns worst_ns best_ns\nrehash %d %ld %.1f %.1f %.1f\n", size, length,
           median * scale, seconds[batches - 1] * scale, seconds[0] * scale);
  }
  MPI_Type_free(&word);
  free(own);
  free(all);
  MPI_Finalize();
  return all_right ? 0 : 1;
}
