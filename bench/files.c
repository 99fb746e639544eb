/* files: writing and reading a file together, bytes per second.
 *
 * Patterns: `contiguous`, each rank its own part; `strided`, each rank a block of a 3-D array of doubles that lies in
 * the file row by row. Each by itself (MPI_File_write_at, with the view) and collectively (MPI_File_write_at_all). The
 * file is made and closed within the time, as a checkpoint does; it is not synced to the device.
 *
 * --overlap: even ranks write by MPI_File_iwrite_at while odd ones compute, with tmpi all on one core (--workers 1);
 * printed is how much of the shorter of both is hidden. With --check PERCENT less than that is a failure.
 *
 * --calls: the file stays open; each rank writes, and then reads, --bytes at a time, 64 times in a row; printed are
 * microseconds for a call.
 */
#include <math.h>
#include <unistd.h>

#include "bench.h"

static int ranks, rank;
static volatile double sink;

static void usage(void) {
  printf(
      "usage: files [--directory DIR] [--bytes N] [--batches N] [--overlap [--check PERCENT] | --calls]\n"
      "  --directory DIR  where the file is made (default /tmp)\n"
      "  --bytes N        per rank (default 4M); rounded to a block of doubles\n"
      "  --batches N      measurements (default 7, after one that does not count)\n"
      "  --overlap        how much of a write computation hides\n"
      "  --check PERCENT  fails if that is less\n"
      "  --calls          microseconds of a call, with the file open\n");
}

static MPI_File open_file(const char* path, int amode) {
  MPI_File file;
  if (MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &file) != MPI_SUCCESS) {
    fprintf(stderr, "cannot open %s\n", path);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return file;
}

static void checked(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  fprintf(stderr, "%s failed\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static MPI_Datatype block_of_array(int edge) {
  int dims[3] = {0, 0, 0}, sizes[3], subsizes[3], starts[3];
  MPI_Dims_create(ranks, 3, dims);
  const int where[3] = {rank / (dims[1] * dims[2]), rank / dims[2] % dims[1], rank % dims[2]};
  for (int d = 0; d < 3; d++) {
    sizes[d] = edge * dims[d];
    subsizes[d] = edge;
    starts[d] = edge * where[d];
  }
  MPI_Datatype type;
  MPI_Type_create_subarray(3, sizes, subsizes, starts, MPI_ORDER_C, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

static double once(const char* path, int writes, int strided, int together, double* data, int count,
                   MPI_Datatype view) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  MPI_File file = open_file(path, writes ? MPI_MODE_CREATE | MPI_MODE_WRONLY : MPI_MODE_RDONLY);
  MPI_Offset offset = 0;
  if (strided) {
    checked(MPI_File_set_view(file, 0, MPI_DOUBLE, view, "native", MPI_INFO_NULL), "MPI_File_set_view");
  } else {
    offset = (MPI_Offset)rank * count * (MPI_Offset)sizeof(double);
  }
  MPI_Status* none = MPI_STATUS_IGNORE;
  if (writes && together)
    checked(MPI_File_write_at_all(file, offset, data, count, MPI_DOUBLE, none), "write_at_all");
  if (writes && !together)
    checked(MPI_File_write_at(file, offset, data, count, MPI_DOUBLE, none), "write_at");
  if (!writes && together)
    checked(MPI_File_read_at_all(file, offset, data, count, MPI_DOUBLE, none), "read_at_all");
  if (!writes && !together) checked(MPI_File_read_at(file, offset, data, count, MPI_DOUBLE, none), "read_at");
  checked(MPI_File_close(&file), "MPI_File_close");
  double mine = MPI_Wtime() - start, longest;
  MPI_Allreduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return longest;
}

static void patterns(const char* path, long bytes, int batches) {
  const int edge = (int)cbrt((double)bytes / sizeof(double));
  const int count = edge * edge * edge;
  MPI_Datatype view = block_of_array(edge);
  double* data = bench_memory((size_t)count * sizeof(double));
  double samples[101];
  if (rank == 0) printf("# pattern access operation ranks bytes_per_rank MB_per_s\n");
  for (int strided = 0; strided < 2; strided++) {
    for (int together = 0; together < 2; together++) {
      for (int writes = 1; writes >= 0; writes--) {
        for (int i = -1; i < batches; i++) {
          if (writes && rank == 0) unlink(path);
          const double seconds = once(path, writes, strided, together, data, count, view);
          if (i >= 0) samples[i] = (double)ranks * count * sizeof(double) / seconds / 1e6;
        }
        if (rank == 0)
          printf("%s %s %s %d %zu %.0f\n", strided ? "strided" : "contiguous",
                 together ? "collective" : "independent", writes ? "write" : "read", ranks,
                 (size_t)count * sizeof(double), median_of(samples, batches));
      }
    }
  }
  MPI_Type_free(&view);
  free(data);
}

static void compute(long rounds) {
  double x = 1;
  for (long i = 0; i < rounds; i++) x = x * 1.0000001 + 1e-9;
  sink = x;
}

/* Even ranks write, odd ones compute as soon as that has begun; both, and each alone. From the first beginning to the
 * last end: ranks that share a core do not begin together. */
static double one_way(MPI_File file, void* data, long bytes, int writes, int computes, long rounds) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_File_set_size(file, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  double start = MPI_Wtime(), end, first, last;
  if (rank % 2 == 0) {
    if (writes)
      checked(MPI_File_iwrite_at(file, (MPI_Offset)rank * bytes, data, (int)bytes, MPI_BYTE, &request),
              "iwrite_at");
    MPI_Send(NULL, 0, MPI_BYTE, rank + 1, 1, MPI_COMM_WORLD);
    checked(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
  } else {
    MPI_Recv(NULL, 0, MPI_BYTE, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (computes) compute(rounds);
  }
  end = MPI_Wtime();
  MPI_Allreduce(&start, &first, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&end, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return last - first;
}

static int overlap(const char* path, long bytes, int batches, long least) {
  int too_little = 0;
  void* data = bench_memory((size_t)bytes);
  MPI_File file = open_file(path, MPI_MODE_CREATE | MPI_MODE_WRONLY);
  double times[3][101];
  long rounds = 10000000;
  if (rank == 0) printf("# write_s compute_s both_s hidden_percent\n");
  for (int i = -3; i < batches; i++) {
    const double took[3] = {one_way(file, data, bytes, 1, 0, rounds),
                            one_way(file, data, bytes, 0, 1, rounds),
                            one_way(file, data, bytes, 1, 1, rounds)};
    if (i < 0) rounds = (long)((double)rounds * took[0] / took[1]);
    for (int what = 0; what < 3 && i >= 0; what++) times[what][i] = took[what];
  }
  MPI_File_close(&file);
  if (rank == 0) {
    const double write = median_of(times[0], batches), computation = median_of(times[1], batches);
    const double both = median_of(times[2], batches), shorter = write < computation ? write : computation;
    const double hidden = 100 * (write + computation - both) / shorter;
    printf("%.4f %.4f %.4f %.0f\n", write, computation, both, hidden);
    too_little = hidden < (double)least;
    if (too_little) fprintf(stderr, "files: %.0f %% are hidden, less than %ld %%\n", hidden, least);
  }
  MPI_Bcast(&too_little, 1, MPI_INT, 0, MPI_COMM_WORLD);
  free(data);
  return too_little;
}

static void calls(const char* path, long bytes, int batches) {
  enum { kCalls = 64 };
  char* data = bench_memory((size_t)bytes);
  MPI_File file = open_file(path, MPI_MODE_CREATE | MPI_MODE_RDWR);
  double samples[101];
  if (rank == 0) printf("# operation ranks bytes microseconds_per_call\n");
  for (int writes = 1; writes >= 0; writes--) {
    for (int i = -1; i < batches; i++) {
      MPI_Barrier(MPI_COMM_WORLD);
      const double start = MPI_Wtime();
      for (int call = 0; call < kCalls; call++) {
        const MPI_Offset offset = ((MPI_Offset)rank * kCalls + call) * bytes;
        checked(writes ? MPI_File_write_at(file, offset, data, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE)
                       : MPI_File_read_at(file, offset, data, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE),
                "a call");
      }
      double mine = MPI_Wtime() - start, longest;
      MPI_Allreduce(&mine, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      if (i >= 0) samples[i] = longest / kCalls * 1e6;
    }
    if (rank == 0)
      printf("%s %d %ld %.1f\n", writes ? "write" : "read", ranks, bytes, median_of(samples, batches));
  }
  MPI_File_close(&file);
  free(data);
}

int main(int argc, char** argv) {
  if (option_given(argc, argv, "--help")) {
    usage();
    return 0;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  long bytes = 4 << 20;
  option_sizes(option_text(argc, argv, "--bytes", "4M"), &bytes, 1);
  int batches = (int)option_number(argc, argv, "--batches", 7);
  if (batches > 101) batches = 101;
  char path[512];
  int pid = (int)getpid();
  MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD);
  snprintf(path, sizeof path, "%s/tmpi_files_%d", option_text(argc, argv, "--directory", "/tmp"), pid);
  int failed = 0;
  if (option_given(argc, argv, "--overlap")) {
    failed = overlap(path, bytes, batches, option_number(argc, argv, "--check", -1000));
  } else if (option_given(argc, argv, "--calls")) {
    calls(path, bytes, batches);
  } else {
    patterns(path, bytes, batches);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) unlink(path);
  MPI_Finalize();
  return failed;
}
