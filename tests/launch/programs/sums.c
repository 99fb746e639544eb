/* Reductions of numbers whose sum depends on the order, of several sizes; rank 0 prints all bits that the ranks
 * got as one number. With "uneven" each rank names another size, which is wrong: all calls return, some with an error. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMost = 20011 };
static double in[kMost * 2], out[kMost * 2];
static int rank, size;
static uint64_t digest;

static void take(const double* values, int count) {
  const unsigned char* bytes = (const unsigned char*)values;
  for (size_t i = 0; i < sizeof(double) * (size_t)count; i++) digest = (digest ^ bytes[i]) * 0x100000001b3u;
}

static void run(int count, MPI_Op op, MPI_Comm comm) {
  int me, members;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &members);
  uint64_t state = (uint64_t)rank * 7919 + 12345;
  for (int i = 0; i < count; i++) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    in[i] = (double)(int64_t)state / (double)(1u << (state >> 59));
  }
  if (op == MPI_PROD)
    for (int i = 0; i < count; i++) in[i] = 1 + in[i] * 0x1p-63;
  MPI_Allreduce(in, out, count, MPI_DOUBLE, op, comm);
  take(out, count);
  MPI_Reduce(in, out, count, MPI_DOUBLE, op, members - 1, comm);
  if (me == members - 1) take(out, count);
  MPI_Scan(in, out, count, MPI_DOUBLE, op, comm);
  take(out, count);
  MPI_Exscan(in, out, count, MPI_DOUBLE, op, comm);
  if (me > 0) take(out, count);
  MPI_Reduce_scatter_block(in, out, count / members, MPI_DOUBLE, op, comm);
  take(out, count / members);
  MPI_Request request;
  MPI_Iallreduce(MPI_IN_PLACE, in, count, MPI_DOUBLE, op, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  take(in, count);
}

static void uneven(void) {
  const int count = kMost + rank;
  int errors = 0, most, ones[16], counts[16];
  for (int i = 0; i < size; i++) ones[i] = 1, counts[i] = 3000 + rank;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  errors += MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD) == MPI_ERR_TRUNCATE;
  errors += MPI_Reduce(in, out, count, MPI_DOUBLE, MPI_SUM, 1, MPI_COMM_WORLD) == MPI_ERR_TRUNCATE;
  errors += MPI_Scan(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD) == MPI_ERR_TRUNCATE;
  errors += MPI_Exscan(in, out, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD) == MPI_ERR_TRUNCATE;
  errors += MPI_Reduce_scatter(in, out, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD) == MPI_ERR_TRUNCATE;
  errors += MPI_Reduce_scatter(in, out, ones, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD) != MPI_SUCCESS ? 100 : 0;
  MPI_Allreduce(&errors, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) printf("at most %d errors\n", most);
}

int main(int argc, char** argv) {
  static const int counts[] = {1, 7, 64, 300, 5000, kMost};
  MPI_Comm half;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 1 && strcmp(argv[1], "uneven") == 0) {
    uneven();
    MPI_Finalize();
    return 0;
  }
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
  for (int i = 0; i < 6; i++) {
    run(counts[i], MPI_SUM, MPI_COMM_WORLD);
    run(counts[i], MPI_PROD, MPI_COMM_WORLD);
    run(counts[i], MPI_SUM, half);
  }
  uint64_t* all = calloc((size_t)size, sizeof *all);
  MPI_Gather(&digest, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  for (int i = 0; rank == 0 && i < size; i++) printf("%016llx\n", (unsigned long long)all[i]);
  free(all);
  MPI_Comm_free(&half);
  MPI_Finalize();
  return 0;
}
