/* A random sequence of collectives on overlapping communicators, with point-to-point messages pending on them
 * meanwhile. All ranks draw the same sequence.
 *
 *   coll_random [operations [seed]]
 */
#include "check.h"

enum { kComms = 5, kMost = 3000 };

static MPI_Comm comms[kComms];

static int value(int rank, int i, int salt) {
  return rank * 13 + i * 7 + salt;
}

/* One operation on `comm`; `pick` and `salt` are the same on all ranks. */
static void operate(MPI_Comm comm, uint32_t pick, int count, int salt) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  int root = salt % size, *a = check_malloc((size_t)count * sizeof(int)),
      *b = check_malloc((size_t)count * sizeof(int));
  for (int i = 0; i < count; i++) a[i] = value(rank, i, salt), b[i] = -1;
  switch (pick % 7) {
    case 0:
      CHECK_OK(MPI_Barrier(comm));
      break;
    case 1:
      CHECK_OK(MPI_Bcast(a, count, MPI_INT, root, comm));
      for (int i = 0; i < count; i++) CHECK_EQ(a[i], value(root, i, salt));
      break;
    case 2:
      CHECK_OK(MPI_Allreduce(a, b, count, MPI_INT, MPI_MAX, comm));
      for (int i = 0; i < count; i++) CHECK_EQ(b[i], value(size - 1, i, salt));
      break;
    case 3:
      CHECK_OK(MPI_Reduce(a, b, count, MPI_INT, MPI_MIN, root, comm));
      for (int i = 0; rank == root && i < count; i++) CHECK_EQ(b[i], value(0, i, salt));
      break;
    case 4:
      CHECK_OK(MPI_Exscan(a, b, count, MPI_INT, MPI_MAX, comm));
      for (int i = 0; rank > 0 && i < count; i++) CHECK_EQ(b[i], value(rank - 1, i, salt));
      break;
    case 5: {
      int* all = check_malloc((size_t)count * (size_t)size * sizeof(int));
      CHECK_OK(MPI_Allgather(a, count, MPI_INT, all, count, MPI_INT, comm));
      for (int r = 0; r < size; r++)
        for (int i = 0; i < count; i++) CHECK_EQ(all[r * count + i], value(r, i, salt));
      free(all);
      break;
    }
    default: {
      int *out = check_malloc((size_t)size * sizeof(int)), *in = check_malloc((size_t)size * sizeof(int));
      for (int r = 0; r < size; r++) out[r] = value(rank, r, salt);
      CHECK_OK(MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm));
      for (int r = 0; r < size; r++) CHECK_EQ(in[r], value(r, rank, salt));
      free(out);
      free(in);
    }
  }
  free(a);
  free(b);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  int operations = argc > 1 ? atoi(argv[1]) : 600;
  uint64_t state = argc > 2 ? (uint64_t)atoll(argv[2]) : 99;
  if (world_size > 100) operations /= 10;
  comms[0] = MPI_COMM_WORLD;
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]));
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &comms[2]));
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &comms[3]));
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, world_rank / 3, world_rank, &comms[4]));
  int pending[kComms];
  MPI_Request requests[kComms];
  for (int c = 0; c < kComms; c++)
    CHECK_OK(MPI_Irecv(&pending[c], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[c], &requests[c]));
  for (int i = 0; i < operations; i++) {
    uint32_t comm = random_next(&state), pick = random_next(&state), size = random_next(&state);
    operate(comms[comm % kComms], pick, (int)(size % 4 ? size % 40 : size % kMost),
            (int)(random_next(&state) % 1000));
  }
  for (int c = 0; c < kComms; c++) {
    int rank, size, flag = 1;
    MPI_Comm_rank(comms[c], &rank);
    MPI_Comm_size(comms[c], &size);
    CHECK_OK(MPI_Test(&requests[c], &flag, MPI_STATUS_IGNORE));
    CHECK(!flag); /* no collective message was caught */
    CHECK_OK(MPI_Barrier(comms[c]));
    CHECK_OK(MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 5, comms[c]));
    CHECK_OK(MPI_Wait(&requests[c], MPI_STATUS_IGNORE));
    CHECK_EQ(pending[c], (rank + size - 1) % size);
    if (c > 0) CHECK_OK(MPI_Comm_free(&comms[c]));
  }
  return check_end();
}
