/* Collectives that move data: barrier, bcast, gather(v), scatter(v), allgather(v), alltoall(v): every root,
 * several counts, in place and not, on the world, on it reversed, on its parts, on MPI_COMM_SELF. MPI report,
 * chapter 6. */
#include "check.h"

static MPI_Comm comm;
static int rank, size;

/* Element `i` of the block that rank `from` has for rank `to`. */
static int value(int from, int to, int i) {
  return from * 100003 + to * 307 + i;
}

static int* ints(long count) {
  int* memory = check_malloc((size_t)count * sizeof(int) + sizeof(int));
  for (long i = 0; i < count; i++) memory[i] = -1;
  return memory;
}

/* Nobody leaves a barrier before the last one has come. */
static void test_barrier(void) {
  for (int late = 0; late < size && late < 4; late++) {
    if (rank == late) {
      for (int i = 0; i < 20; i++) {
        int flag = 1;
        CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, 77, comm, &flag, MPI_STATUS_IGNORE));
        CHECK(!flag);
      }
    }
    CHECK_OK(MPI_Barrier(comm));
    if (rank != late) CHECK_OK(MPI_Send(NULL, 0, MPI_INT, late, 77, comm));
    for (int i = 1; rank == late && i < size; i++)
      CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, 77, comm, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Barrier(comm));
  }
}

static void test_bcast(int count, int root) {
  int* data = ints(count);
  for (int i = 0; i < count && rank == root; i++) data[i] = value(root, 5, i);
  CHECK_OK(MPI_Bcast(data, count, MPI_INT, root, comm));
  for (int i = 0; i < count; i++) CHECK_EQ(data[i], value(root, 5, i));
  free(data);
}

static void test_gather(int count, int root, int in_place) {
  int *send = ints(count), *recv = rank == root ? ints((long)count * size) : NULL;
  for (int i = 0; i < count; i++) send[i] = value(rank, root, i);
  if (in_place && rank == root) {
    memcpy(recv + (long)root * count, send, (size_t)count * sizeof(int));
    CHECK_OK(MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, recv, count, MPI_INT, root, comm));
  } else {
    CHECK_OK(MPI_Gather(send, count, MPI_INT, recv, count, MPI_INT, root, comm));
  }
  for (int r = 0; rank == root && r < size; r++)
    for (int i = 0; i < count; i++) CHECK_EQ(recv[(long)r * count + i], value(r, root, i));
  free(send);
  free(recv);
}

static void test_scatter(int count, int root, int in_place) {
  int *recv = ints(count), *send = rank == root ? ints((long)count * size) : NULL;
  for (int r = 0; rank == root && r < size; r++)
    for (int i = 0; i < count; i++) send[(long)r * count + i] = value(root, r, i);
  if (in_place && rank == root) {
    CHECK_OK(MPI_Scatter(send, count, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, comm));
    for (int i = 0; i < count; i++) CHECK_EQ(send[(long)root * count + i], value(root, root, i));
  } else {
    CHECK_OK(MPI_Scatter(send, count, MPI_INT, recv, count, MPI_INT, root, comm));
    for (int i = 0; i < count; i++) CHECK_EQ(recv[i], value(root, rank, i));
  }
  free(send);
  free(recv);
}

static void test_allgather(int count, int in_place) {
  int *send = ints(count), *recv = ints((long)count * size);
  for (int i = 0; i < count; i++) send[i] = value(rank, 0, i);
  if (in_place) {
    memcpy(recv + (long)rank * count, send, (size_t)count * sizeof(int));
    CHECK_OK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, recv, count, MPI_INT, comm));
  } else {
    CHECK_OK(MPI_Allgather(send, count, MPI_INT, recv, count, MPI_INT, comm));
  }
  for (int r = 0; r < size; r++)
    for (int i = 0; i < count; i++) CHECK_EQ(recv[(long)r * count + i], value(r, 0, i));
  free(send);
  free(recv);
}

static void test_alltoall(int count, int in_place) {
  int *send = ints((long)count * size), *recv = ints((long)count * size);
  for (int r = 0; r < size; r++)
    for (int i = 0; i < count; i++) send[(long)r * count + i] = value(rank, r, i);
  if (in_place) {
    memcpy(recv, send, (size_t)count * (size_t)size * sizeof(int));
    CHECK_OK(MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, recv, count, MPI_INT, comm));
  } else {
    CHECK_OK(MPI_Alltoall(send, count, MPI_INT, recv, count, MPI_INT, comm));
  }
  for (int r = 0; r < size; r++)
    for (int i = 0; i < count; i++) CHECK_EQ(recv[(long)r * count + i], value(r, rank, i));
  free(send);
  free(recv);
}

/* The v-variants: rank r's block has (r * 7 + count) % 5 elements (sometimes none), blocks lie in reversed
 * order with gaps. */
static int length(int r, int count) {
  return (r * 7 + count) % 5 * (count > 50 ? count : 1);
}

static long layout(int count, int* counts, int* displs) {
  long at = 2;
  for (int r = size - 1; r >= 0; r--) {
    counts[r] = length(r, count);
    displs[r] = (int)at;
    at += counts[r] + 1;
  }
  return at + 2;
}

/* Elements that belong to no block are untouched. */
static void check_gaps(const int* data, long total, const int* counts, const int* displs) {
  char* used = calloc((size_t)total, 1);
  for (int r = 0; r < size; r++) memset(used + displs[r], 1, (size_t)counts[r]);
  for (long i = 0; i < total; i++)
    if (!used[i]) CHECK_EQ(data[i], -1);
  free(used);
}

static void test_gatherv_scatterv(int count, int root) {
  int *counts = ints(size), *displs = ints(size), mine = length(rank, count), *block = ints(mine);
  long total = layout(count, counts, displs);
  int* all = ints(total);
  for (int i = 0; i < mine; i++) block[i] = value(rank, root, i);
  CHECK_OK(MPI_Gatherv(block, mine, MPI_INT, rank == root ? all : NULL, rank == root ? counts : NULL,
                       rank == root ? displs : NULL, MPI_INT, root, comm));
  if (rank == root) {
    for (int r = 0; r < size; r++)
      for (int i = 0; i < counts[r]; i++) CHECK_EQ(all[displs[r] + i], value(r, root, i));
    check_gaps(all, total, counts, displs);
    for (long i = 0; i < total; i++)
      if (all[i] != -1) all[i]++;
  }
  CHECK_OK(
      MPI_Scatterv(rank == root ? all : NULL, counts, displs, MPI_INT, block, mine, MPI_INT, root, comm));
  for (int i = 0; i < mine; i++) CHECK_EQ(block[i], value(rank, root, i) + 1);
  /* In place at the root. */
  if (rank == root) {
    CHECK_OK(MPI_Gatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, displs, MPI_INT, root, comm));
    for (int r = 0; r < size; r++)
      for (int i = 0; i < counts[r]; i++) CHECK_EQ(all[displs[r] + i], value(r, root, i) + 1);
    CHECK_OK(MPI_Scatterv(all, counts, displs, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, root, comm));
  } else {
    CHECK_OK(MPI_Gatherv(block, mine, MPI_INT, NULL, NULL, NULL, MPI_INT, root, comm));
    CHECK_OK(MPI_Scatterv(NULL, NULL, NULL, MPI_INT, block, mine, MPI_INT, root, comm));
  }
  free(counts);
  free(displs);
  free(block);
  free(all);
}

static void test_allgatherv(int count, int in_place) {
  int *counts = ints(size), *displs = ints(size), mine = length(rank, count), *block = ints(mine);
  long total = layout(count, counts, displs);
  int* all = ints(total);
  for (int i = 0; i < mine; i++) block[i] = value(rank, 3, i);
  if (in_place) {
    memcpy(all + displs[rank], block, (size_t)mine * sizeof(int));
    CHECK_OK(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, counts, displs, MPI_INT, comm));
  } else {
    CHECK_OK(MPI_Allgatherv(block, mine, MPI_INT, all, counts, displs, MPI_INT, comm));
  }
  for (int r = 0; r < size; r++)
    for (int i = 0; i < counts[r]; i++) CHECK_EQ(all[displs[r] + i], value(r, 3, i));
  check_gaps(all, total, counts, displs);
  free(counts);
  free(displs);
  free(block);
  free(all);
}

/* Rank a sends (a + 2 b) % 4 elements to rank b. In place the matrix has to be symmetric: (a + b) % 4. */
static void test_alltoallv(int factor, int in_place) {
  int *sc = ints(size), *sd = ints(size), *rc = ints(size), *rd = ints(size), send_total = 1, recv_total = 3;
  for (int r = 0; r < size; r++) {
    sc[r] = factor * ((rank + (in_place ? 1 : 2) * r) % 4);
    rc[r] = factor * ((r + (in_place ? 1 : 2) * rank) % 4);
    sd[r] = send_total;
    rd[r] = recv_total;
    send_total += sc[r] + 1;
    recv_total += rc[r] + 2;
  }
  int *send = ints(send_total), *recv = ints(recv_total);
  for (int r = 0; r < size; r++)
    for (int i = 0; i < sc[r]; i++) {
      send[sd[r] + i] = value(rank, r, i);
      if (in_place) recv[rd[r] + i] = value(rank, r, i);
    }
  if (in_place) {
    CHECK_OK(MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_DATATYPE_NULL, recv, rc, rd, MPI_INT, comm));
  } else {
    CHECK_OK(MPI_Alltoallv(send, sc, sd, MPI_INT, recv, rc, rd, MPI_INT, comm));
  }
  for (int r = 0; r < size; r++)
    for (int i = 0; i < rc[r]; i++) CHECK_EQ(recv[rd[r] + i], value(r, rank, i));
  check_gaps(recv, recv_total, rc, rd);
  free(sc);
  free(sd);
  free(rc);
  free(rd);
  free(send);
  free(recv);
}

/* Columns of a matrix: derived types that interleave, and different types on the two sides. */
static void test_types(void) {
  enum { kRows = 6 };
  MPI_Datatype vector, column;
  int *matrix = ints((long)kRows * size), block[kRows];
  CHECK_OK(MPI_Type_vector(kRows, 1, size, MPI_INT, &vector));
  CHECK_OK(MPI_Type_create_resized(vector, 0, sizeof(int), &column));
  CHECK_OK(MPI_Type_commit(&column));
  for (int i = 0; i < kRows; i++) block[i] = value(rank, 1, i);
  CHECK_OK(MPI_Allgather(block, kRows, MPI_INT, matrix, 1, column, comm));
  for (int r = 0; r < size; r++)
    for (int i = 0; i < kRows; i++) CHECK_EQ(matrix[i * size + r], value(r, 1, i));
  int root = size - 1;
  CHECK_OK(MPI_Scatter(matrix, 1, column, block, kRows, MPI_INT, root, comm));
  for (int i = 0; i < kRows; i++) CHECK_EQ(block[i], value(rank, 1, i));
  memset(matrix, 0xff, (size_t)(kRows * size) * sizeof(int));
  CHECK_OK(MPI_Gather(block, kRows, MPI_INT, matrix, 1, column, root, comm));
  for (int r = 0; rank == root && r < size; r++)
    for (int i = 0; i < kRows; i++) CHECK_EQ(matrix[i * size + r], value(r, 1, i));
  /* A column sent to all: only the column changes. */
  for (int i = 0; i < kRows * size; i++) matrix[i] = rank == 0 ? i : -i - 1;
  CHECK_OK(MPI_Bcast(matrix + size / 2, 1, column, 0, comm));
  for (int i = 0; i < kRows * size; i++) CHECK_EQ(matrix[i], rank == 0 || i % size == size / 2 ? i : -i - 1);
  CHECK_OK(MPI_Type_free(&vector));
  CHECK_OK(MPI_Type_free(&column));
  free(matrix);
}

static void test_all(void) {
  static const int counts[] = {0, 1, 3, 64, 1000};
  CHECK_OK(MPI_Comm_rank(comm, &rank));
  CHECK_OK(MPI_Comm_size(comm, &size));
  test_barrier();
  for (int c = 0; c < 5; c++) {
    int count = size > 64 && counts[c] > 64 ? 64 : counts[c];
    for (int root = 0; root<size; root += size> 8 ? size / 5 : 1) {
      test_bcast(count * 7, root);
      for (int in_place = 0; in_place < 2; in_place++) {
        test_gather(count, root, in_place);
        test_scatter(count, root, in_place);
      }
      test_gatherv_scatterv(count, root);
    }
    for (int in_place = 0; in_place < 2; in_place++) {
      test_allgather(count, in_place);
      test_alltoall(count, in_place);
#ifdef MPICH_VERSION /* MPICH 4.0 ignores the displacement on one rank */
      if (size == 1) continue;
#endif
      test_allgatherv(count, in_place);
      test_alltoallv(c * c * 10, in_place);
    }
  }
  test_types();
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  comm = MPI_COMM_WORLD;
  test_all();
  comm = MPI_COMM_SELF;
  test_all();
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &comm));
  test_all();
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, world_rank % 3, world_rank, &comm));
  test_all();
  CHECK_OK(MPI_Comm_free(&comm));
  return check_end();
}
