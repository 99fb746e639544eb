// Members of a communicator whose collective calls do not fit together, for tests/launch/test_mismatch.py:
// rank 1 does something else than the others. Nothing here is right.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kLong = 100000, kMost = 400000 };
static double *in, *out;
static const MPI_Comm world = MPI_COMM_WORLD;

static void barrier(void) {
  MPI_Barrier(world);
}
static void sum(int count) {
  MPI_Allreduce(in, out, count, MPI_DOUBLE, MPI_SUM, world);
}
static void bcast(int count, int root) {
  MPI_Bcast(in, count, MPI_DOUBLE, root, world);
}
static void reduce(int count, int root) {
  MPI_Reduce(in, out, count, MPI_DOUBLE, MPI_SUM, root, world);
}
static void gather(int count, int root) {
  MPI_Gather(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, root, world);
}
static void scatter(int count, int root) {
  MPI_Scatter(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, root, world);
}
static void allgather(int count) {
  MPI_Allgather(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, world);
}
static void alltoall(int count) {
  MPI_Alltoall(in, count, MPI_DOUBLE, out, count, MPI_DOUBLE, world);
}
static void allgatherv(int first) {
  int counts[8] = {1, 1, 1, 1, 1, 1, 1, 1}, displs[8] = {0, 1, 2, 3, 4, 5, 6, 7};
  counts[0] = first;
  MPI_Allgatherv(in, 1, MPI_DOUBLE, out, counts, displs, MPI_DOUBLE, world);
}
static void reduce_scatter(int first, int second) {
  int counts[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  counts[0] = first;
  counts[1] = second;
  MPI_Reduce_scatter(in, out, counts, MPI_DOUBLE, MPI_SUM, world);
}
static void dup(void) {
  MPI_Comm comm;
  MPI_Comm_dup(world, &comm);
}
static void split(void) {
  MPI_Comm comm;
  MPI_Comm_split(world, 0, 0, &comm);
}
static void started(int count) {
  MPI_Request request;
  if (count == 0)
    MPI_Ibarrier(world, &request);
  else
    MPI_Iallreduce(in, out, count, MPI_DOUBLE, MPI_SUM, world, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

#define CASE(name, other, usual)    \
  if (strcmp(argv[1], name) == 0) { \
    if (rank == 1)                  \
      other;                        \
    else                            \
      usual;                        \
    known = 1;                      \
  }

int main(int argc, char** argv) {
  int rank, known = 0;
  (void)argc;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(world, &rank);
  in = calloc(kMost, sizeof *in);
  out = calloc(kMost, sizeof *out);
  CASE("barrier_allreduce", barrier(), sum(1))
  CASE("barrier_long_allreduce", barrier(), sum(kLong))
  CASE("long_allreduce_barrier", sum(kLong), barrier())
  CASE("barrier_bcast", barrier(), bcast(1, 0))
  CASE("bcast_barrier", bcast(1, 0), barrier())
  CASE("long_bcast_barrier", bcast(kLong, 0), barrier())
  CASE("bcast_scatter", bcast(1, 0), scatter(1, 0))
  CASE("bcast_reduce", bcast(1, 0), reduce(1, 0))
  CASE("reduce_bcast", reduce(1, 0), bcast(1, 0))
  CASE("gather_reduce", gather(1, 0), reduce(1, 0))
  CASE("count_in_cells", sum(1), sum(2))
  CASE("count_short_long", sum(1), sum(kLong))
  CASE("count_long", sum(kLong), sum(2 * kLong))
  CASE("operator", MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_MAX, world), sum(1))
  CASE("type", MPI_Allreduce(in, out, 1, MPI_LONG, MPI_SUM, world), sum(1))
  CASE("bcast_root", bcast(1, 1), bcast(1, 0))
  CASE("long_bcast_root", bcast(kLong, 1), bcast(kLong, 0))
  CASE("reduce_root", reduce(1, 1), reduce(1, 0))
  CASE("long_reduce_root", reduce(kLong, 1), reduce(kLong, 0))
  CASE("gather_root", gather(1, 1), gather(1, 0))
  CASE("scatter_root", scatter(1, 1), scatter(1, 0))
  CASE("allgather_count", allgather(2), allgather(1))
  CASE("allgather_short_long", allgather(2000), allgather(1))
  CASE("alltoall_count", alltoall(2), alltoall(1))
  CASE("alltoall_short_long", alltoall(2000), alltoall(1))
  CASE("allgather_alltoall", allgather(1), alltoall(1))
  CASE("allgather_allgatherv", allgather(1), allgatherv(1))
  CASE("allgatherv_counts", allgatherv(2), allgatherv(1))
  CASE("reduce_scatter_counts", reduce_scatter(2, 1), reduce_scatter(1, 2))
  CASE("reduce_scatter_long", reduce_scatter(5000, 1), reduce_scatter(1, 1))
  CASE("scan_exscan", MPI_Scan(in, out, 1, MPI_DOUBLE, MPI_SUM, world),
       MPI_Exscan(in, out, 1, MPI_DOUBLE, MPI_SUM, world))
  CASE("reduce_count", reduce(2, 0), reduce(1, 0))
  CASE("reduce_operator", MPI_Reduce(in, out, 1, MPI_DOUBLE, MPI_MAX, 0, world), reduce(1, 0))
  CASE("reduce_short_long", reduce(1, 0), reduce(kLong, 0))
  CASE("bcast_less", bcast(2, 0), bcast(1, 0))
  CASE("bcast_more", bcast(1, 0), bcast(2, 0))
  CASE("gather_less", gather(1, 0), gather(2, 0))
  CASE("scatter_less", scatter(3, 0), scatter(2, 0))
  CASE("dup_barrier", dup(), barrier())
  CASE("dup_allreduce", dup(), sum(1))
  CASE("split_dup", split(), dup())
  CASE("ibarrier_iallreduce", started(0), started(1))
  CASE("iallreduce_counts", started(kLong), started(1))
  if (!known) fprintf(stderr, "there is no case %s\n", argv[1]);
  MPI_Barrier(world);
  puts("nothing was found");
  MPI_Finalize();
  return 0;
}
