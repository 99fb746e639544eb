/* Messages between different layouts of the same data: columns, structs, scattered elements, packed data,
 * absolute addresses; each from every rank to its right neighbour, small (eager) and large (rendezvous). */
#include "check.h"

#include <stddef.h>

static int right, left;

/* Sends (sbuf, scount, stype) to the right and receives from the left. */
static int pass(const void* sbuf, int scount, MPI_Datatype stype, void* rbuf, int rcount,
                MPI_Datatype rtype) {
  MPI_Status status;
  int count;
  CHECK_OK(
      MPI_Sendrecv(sbuf, scount, stype, right, 1, rbuf, rcount, rtype, left, 1, MPI_COMM_WORLD, &status));
  MPI_Get_elements(&status, rtype, &count);
  return count;
}

static double value(int rank, int index) {
  return 1000000.0 * rank + index;
}

/* Columns of a matrix into rows: a transposition on the way. */
static void columns(int n) {
  double *from = check_malloc((size_t)n * n * sizeof *from), *to = check_malloc((size_t)n * n * sizeof *to);
  MPI_Datatype column, stepped;
  MPI_Type_vector(n, 1, n, MPI_DOUBLE, &column);
  MPI_Type_create_resized(column, 0, sizeof(double), &stepped);
  MPI_Type_commit(&stepped);
  for (int i = 0; i < n * n; i++) from[i] = value(world_rank, i), to[i] = -1;
  CHECK_EQ(pass(from, n, stepped, to, n * n, MPI_DOUBLE), n * n);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) CHECK(to[i * n + j] == value(left, j * n + i));
  for (int i = 0; i < n * n; i++) to[i] = -1;
  pass(from, n * n, MPI_DOUBLE, to, n, stepped);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) CHECK(to[i * n + j] == value(left, j * n + i));
  MPI_Type_free(&column);
  MPI_Type_free(&stepped);
  free(from);
  free(to);
}

struct particle {
  char kind;
  double position[3];
  int id;
  int scratch; /* not sent */
};

static MPI_Datatype particle_type(void) {
  MPI_Datatype fields, type;
  int lengths[] = {1, 3, 1};
  MPI_Aint places[] = {offsetof(struct particle, kind), offsetof(struct particle, position),
                       offsetof(struct particle, id)};
  MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_INT};
  MPI_Type_create_struct(3, lengths, places, types, &fields);
  MPI_Type_create_resized(fields, 0, sizeof(struct particle), &type);
  MPI_Type_free(&fields);
  MPI_Type_commit(&type);
  return type;
}

static void structs(int n) {
  struct particle *from = check_malloc((size_t)n * sizeof *from), *to = check_malloc((size_t)n * sizeof *to);
  MPI_Datatype type = particle_type();
  for (int i = 0; i < n; i++) {
    from[i] = (struct particle){(char)(i % 100), {value(world_rank, i), i, -i}, i, 5};
    to[i].scratch = 77;
  }
  CHECK_EQ(pass(from, n, type, to, n, type), 5 * n);
  for (int i = 0; i < n; i++) {
    CHECK(to[i].position[0] == value(left, i) && to[i].position[2] == -i);
    CHECK_EQ(to[i].kind, i % 100);
    CHECK_EQ(to[i].id, i);
    CHECK_EQ(to[i].scratch, 77);
  }
  MPI_Type_free(&type);
  free(from);
  free(to);
}

/* Scattered elements on one side, blocks on the other: neither is contiguous. */
static void scattered(int n) {
  int *places = check_malloc((size_t)n * sizeof *places), *from = check_malloc((size_t)n * 3 * sizeof *from),
      *to = check_malloc((size_t)n * 4 * sizeof *to);
  MPI_Datatype indexed, blocks;
  for (int i = 0; i < n; i++) places[i] = 3 * i + i % 3;
  MPI_Type_create_indexed_block(n, 1, places, MPI_INT, &indexed);
  MPI_Type_vector(n / 2, 2, 5, MPI_INT, &blocks);
  MPI_Type_commit(&indexed);
  MPI_Type_commit(&blocks);
  for (int i = 0; i < 3 * n; i++) from[i] = world_rank * 1000000 + i;
  for (int i = 0; i < 4 * n; i++) to[i] = -1;
  CHECK_EQ(pass(from, 1, indexed, to, 1, blocks), n);
  for (int i = 0; i < n; i++) CHECK_EQ(to[i / 2 * 5 + i % 2], left * 1000000 + places[i]);
  CHECK_EQ(to[2], -1);
  MPI_Type_free(&indexed);
  MPI_Type_free(&blocks);
  free(places);
  free(from);
  free(to);
}

static void packed(int n) {
  int *from = check_malloc((size_t)n * sizeof *from), *to = check_malloc((size_t)n * sizeof *to), size, more,
      position = 0;
  double head = value(world_rank, 5), got = 0;
  MPI_Pack_size(n, MPI_INT, MPI_COMM_WORLD, &size);
  MPI_Pack_size(1, MPI_DOUBLE, MPI_COMM_WORLD, &more);
  char *out = check_malloc((size_t)size + more), *in = check_malloc((size_t)size + more);
  for (int i = 0; i < n; i++) from[i] = world_rank + 3 * i;
  CHECK_OK(MPI_Pack(&head, 1, MPI_DOUBLE, out, size + more, &position, MPI_COMM_WORLD));
  CHECK_OK(MPI_Pack(from, n, MPI_INT, out, size + more, &position, MPI_COMM_WORLD));
  pass(out, position, MPI_PACKED, in, size + more, MPI_PACKED);
  const int length = position;
  position = 0;
  CHECK_OK(MPI_Unpack(in, length, &position, &got, 1, MPI_DOUBLE, MPI_COMM_WORLD));
  CHECK_OK(MPI_Unpack(in, length, &position, to, n, MPI_INT, MPI_COMM_WORLD));
  CHECK_EQ(position, length);
  CHECK(got == value(left, 5));
  for (int i = 0; i < n; i++) CHECK_EQ(to[i], left + 3 * i);
  free(from);
  free(to);
  free(out);
  free(in);
}

/* Absolute addresses with MPI_BOTTOM, of automatic and of global variables. */
static int global_counter;
static void bottom(void) {
  double local = 0;
  MPI_Aint places[2];
  MPI_Datatype type;
  MPI_Get_address(&local, &places[0]);
  MPI_Get_address(&global_counter, &places[1]);
  MPI_Type_create_struct(2, (int[]){1, 1}, places, (MPI_Datatype[]){MPI_DOUBLE, MPI_INT}, &type);
  MPI_Type_commit(&type);
  MPI_Request request;
  struct {
    double d;
    int i;
  } message = {value(world_rank, 1), world_rank + 7};
  MPI_Datatype plain;
  MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 8}, (MPI_Datatype[]){MPI_DOUBLE, MPI_INT}, &plain);
  MPI_Type_commit(&plain);
  MPI_Irecv(MPI_BOTTOM, 1, type, left, 2, MPI_COMM_WORLD, &request);
  MPI_Type_free(&type); /* the pending receive keeps it */
  MPI_Send(&message, 1, plain, right, 2, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(local == value(left, 1));
  CHECK_EQ(global_counter, left + 7);
  MPI_Type_free(&plain);
}

/* A message shorter than the receive ends inside an element. */
static void partial(void) {
  MPI_Datatype type = particle_type();
  struct particle to[2];
  MPI_Status status;
  MPI_Request request;
  int count;
  char data[9] = {1};
  MPI_Irecv(to, 2, type, left, 3, MPI_COMM_WORLD, &request);
  MPI_Send(data, 9, MPI_BYTE, right, 3, MPI_COMM_WORLD);
  MPI_Wait(&request, &status);
  MPI_Get_count(&status, type, &count);
  CHECK_EQ(count, MPI_UNDEFINED);
  MPI_Get_elements(&status, type, &count);
  CHECK_EQ(count, 2);
  MPI_Type_free(&type);
}

/* A column of n elements, which goes another way than a row of as many, and a small message behind it with the same envelope: they arrive in
 * this order, posted before and after, whether the receiver's elements lie scattered or not. */
static void in_order(int n, int posted_first, int scattered_there) {
  double *from = check_malloc((size_t)n * 3 * sizeof *from), *to = check_malloc((size_t)n * 3 * sizeof *to),
         small = -1, mine = value(world_rank, -7);
  const int step = scattered_there ? 3 : 1;
  MPI_Datatype column;
  MPI_Request requests[4];
  MPI_Type_vector(n, 1, 3, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  for (int i = 0; i < 3 * n; i++) from[i] = value(world_rank, i), to[i] = -2;
  for (int turn = 0; turn < 2; turn++) {
    if (turn == posted_first) {
      MPI_Isend(from, 1, column, right, 4, MPI_COMM_WORLD, &requests[0]);
      MPI_Isend(&mine, 1, MPI_DOUBLE, right, 4, MPI_COMM_WORLD, &requests[3]);
      if (!posted_first) MPI_Barrier(MPI_COMM_WORLD); /* all lie with their receivers */
    } else {
      MPI_Irecv(to, scattered_there ? 1 : n, scattered_there ? column : MPI_DOUBLE, left, 4, MPI_COMM_WORLD,
                &requests[1]);
      MPI_Irecv(&small, 1, MPI_DOUBLE, left, 4, MPI_COMM_WORLD, &requests[2]);
      if (posted_first) MPI_Barrier(MPI_COMM_WORLD);
    }
  }
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  CHECK(small == value(left, -7));
  for (int i = 0; i < n; i++) CHECK(to[i * step] == value(left, 3 * i));
  for (int i = 0; i < 3 * n; i++) CHECK((scattered_there ? i % 3 == 0 : i < n) || to[i] == -2);
  MPI_Type_free(&column);
  free(from), free(to);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  right = (world_rank + 1) % world_size;
  left = (world_rank + world_size - 1) % world_size;
  for (int n = 2; n <= 200; n *= 10) {
    columns(n);
    structs(n * n);
    scattered(n * n);
    packed(n * n);
  }
  bottom();
  partial();
  const int sizes[] = {2,   13,   128,  129,  512,
                       513, 8191, 8192, 20000}; /* about the limits of slots, channels and cells */
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (int way = 0; way < 4; way++) in_order(sizes[i], way % 2, way / 2);
  return check_end();
}
