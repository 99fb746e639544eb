/* wavefront: a pipeline over a grid, as in Synch_p2p of the Parallel Research Kernels (Van der Wijngaart and
 * Mattson, 2014). Each rank owns a block of columns; for each row it receives one double from its left
 * neighbour, computes A[i][j] = A[i-1][j] + A[i][j-1] - A[i-1][j-1], and sends one to its right neighbour. The
 * last corner, negated, becomes the first of the next sweep, so that sweeps do not overlap.
 */
#include <math.h>

#include "bench.h"

enum { kMaxSweeps = 10000, kCornerTag = 1 << 20 };

static void usage(void) {
  printf(
      "usage: wavefront [--columns N] [--rows N] [--sweeps N]\n"
      "  --columns N   of the grid, divided among the ranks (default 1500)\n"
      "  --rows N      of the grid: messages of a sweep between neighbours (default 1500)\n"
      "  --sweeps N    over the grid (default 100, after two that do not count)\n");
}

/* The columns [begin, end) of a grid, and one more on the left: that of the neighbour. */
struct block {
  long begin, end, rows, stride;
  double* values;
};

static struct block make_block(int rank, int size, long columns, long rows) {
  struct block block = {columns * rank / size, columns * (rank + 1) / size, rows, 0, NULL};
  block.stride = block.end - block.begin + 1;
  block.values = bench_memory((size_t)(block.stride * rows) * sizeof(double));
  for (long j = 0; j < rows; j++) {
    for (long i = 0; i < block.stride; i++) block.values[j * block.stride + i] = 0;
    if (rank == 0) block.values[j * block.stride + 1] = (double)j;
  }
  for (long i = 0; i < block.stride; i++) block.values[i] = (double)(block.begin + i - 1);
  return block;
}

static void sweep(struct block* block, int rank, int size) {
  const long last = block->stride - 1;
  for (long j = 1; j < block->rows; j++) {
    double* row = block->values + j * block->stride;
    const double* above = row - block->stride;
    if (rank > 0) MPI_Recv(row, 1, MPI_DOUBLE, rank - 1, (int)j, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (long i = rank == 0 ? 2 : 1; i <= last; i++) row[i] = row[i - 1] + above[i] - above[i - 1];
    if (rank < size - 1) MPI_Send(&row[last], 1, MPI_DOUBLE, rank + 1, (int)j, MPI_COMM_WORLD);
  }
  double corner = -block->values[block->rows * block->stride - 1];
  if (size > 1 && rank == size - 1) MPI_Send(&corner, 1, MPI_DOUBLE, 0, kCornerTag, MPI_COMM_WORLD);
  if (size > 1 && rank == 0)
    MPI_Recv(&corner, 1, MPI_DOUBLE, size - 1, kCornerTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 0) block->values[1] = corner;
}

int main(int argc, char** argv) {
  int rank, size;
  static double seconds[kMaxSweeps];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  long columns = option_number(argc, argv, "--columns", 1500),
       rows = option_number(argc, argv, "--rows", 1500);
  int sweeps = (int)option_number(argc, argv, "--sweeps", 100);
  int wrong = columns < 2L * size || rows < 2 || rows > kCornerTag || sweeps < 1 || sweeps > kMaxSweeps;
  if (option_given(argc, argv, "--help") || wrong) {
    if (rank == 0) usage();
    if (rank == 0 && wrong)
      fprintf(stderr, "wavefront: needs two columns per rank, two rows, 1 to %d sweeps\n", kMaxSweeps);
    MPI_Finalize();
    return wrong ? 2 : 0;
  }
  struct block block = make_block(rank, size, columns, rows);
  for (int s = -2; s < sweeps; s++) {
    if (s == 0) MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    sweep(&block, rank, size);
    if (s >= 0) seconds[s] = MPI_Wtime() - start;
  }
  const double expected = (double)(sweeps + 2) * (double)(columns + rows - 2);
  const double corner = block.values[rows * block.stride - 1];
  int right = rank != size - 1 || fabs(corner - expected) <= 1e-8 * expected, all_right;
  MPI_Allreduce(&right, &all_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (!all_right && !right) fprintf(stderr, "wavefront: the corner is %g, should be %g\n", corner, expected);
  if (rank == 0) { /* whose sweep ends with the corner's arrival */
    double median = median_of(seconds, sweeps);
    printf("# name ranks columns rows median_ms worst_ms best_ms\nwavefront %d %ld %ld %.3f %.3f %.3f\n",
           size, columns, rows, median * 1e3, seconds[sweeps - 1] * 1e3, seconds[0] * 1e3);
  }
  free(block.values);
  MPI_Finalize();
  return all_right ? 0 : 1;
}
