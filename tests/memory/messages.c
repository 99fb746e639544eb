// A little of messages, collective operations and what they work on. Prints one line if all answers were right. Run
// with memory missing (allocations.py).
//
//   messages [LARGE]   LARGE: bytes of the large messages
#include "memory_program.h"

static int bytes_of_large = 100000;

static void point_to_point(void) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  int out = rank, in = -1;
  MPI_Status status;
  MPI_Request requests[40];
  // Expected: receives first.
  CALL(MPI_Irecv(&in, 1, MPI_INT, previous, 1, MPI_COMM_WORLD, &requests[0]));
  CALL(MPI_Send(&out, 1, MPI_INT, next, 1, MPI_COMM_WORLD));
  CALL(MPI_Wait(&requests[0], &status));
  EXPECT(in == previous && status.MPI_SOURCE == previous);
  // Unexpected ones, many enough for the tables, taken backwards.
  enum { kMany = 40 };
  int values[kMany], sent[kMany];
  for (int i = 0; i < kMany; ++i) {
    sent[i] = rank * 1000 + i;
    CALL(MPI_Isend(&sent[i], 1, MPI_INT, next, 100 + i, MPI_COMM_WORLD, &requests[i]));
  }
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = kMany - 1; i >= 0; --i) {
    CALL(MPI_Recv(&values[i], 1, MPI_INT, previous, 100 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    EXPECT(values[i] == previous * 1000 + i);
  }
  CALL(MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE));
  // Many posted receives.
  for (int i = 0; i < kMany; ++i)
    CALL(MPI_Irecv(&values[i], 1, MPI_INT, previous, 200 + i, MPI_COMM_WORLD, &requests[i]));
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  for (int i = kMany - 1; i >= 0; --i) {
    int value = rank * 2000 + i;
    CALL(MPI_Send(&value, 1, MPI_INT, next, 200 + i, MPI_COMM_WORLD));
  }
  CALL(MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < kMany; ++i) EXPECT(values[i] == previous * 2000 + i);
  // Large ones, synchronous ones, and a probe.
  char *large = malloc((size_t)bytes_of_large), *larger = malloc((size_t)bytes_of_large);
  if (large == NULL || larger == NULL) {
    fprintf(stderr, "rank %d: no memory for the program's own messages\n", rank);
    exit(4);
  }
  memset(large, rank + 1, (size_t)bytes_of_large);
  CALL(MPI_Isend(large, bytes_of_large, MPI_CHAR, next, 2, MPI_COMM_WORLD, &requests[0]));
  CALL(MPI_Probe(previous, 2, MPI_COMM_WORLD, &status));
  int count = -1;
  CALL(MPI_Get_count(&status, MPI_CHAR, &count));
  EXPECT(count == bytes_of_large);
  CALL(MPI_Recv(larger, bytes_of_large, MPI_CHAR, previous, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CALL(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
  EXPECT(larger[0] == previous + 1 && larger[bytes_of_large - 1] == previous + 1);
  CALL(MPI_Issend(&out, 1, MPI_INT, next, 3, MPI_COMM_WORLD, &requests[0]));
  MPI_Message message;
  CALL(MPI_Mprobe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &message, &status));
  CALL(MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
  EXPECT(in == previous);
  CALL(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
  CALL(MPI_Sendrecv_replace(&out, 1, MPI_INT, next, 4, previous, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  EXPECT(out == previous);
  out = rank;
  // Buffered, persistent, partitioned.
  CALL(MPI_Buffer_attach(large, bytes_of_large));
  CALL(MPI_Bsend(&out, 1, MPI_INT, next, 5, MPI_COMM_WORLD));
  CALL(MPI_Recv(&in, 1, MPI_INT, previous, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  EXPECT(in == previous);
  void* detached;
  CALL(MPI_Buffer_detach(&detached, &count));
  CALL(MPI_Recv_init(&in, 1, MPI_INT, previous, 6, MPI_COMM_WORLD, &requests[0]));
  CALL(MPI_Send_init(&out, 1, MPI_INT, next, 6, MPI_COMM_WORLD, &requests[1]));
  for (int round = 0; round < 2; ++round) {
    in = -1;
    CALL(MPI_Startall(2, requests));
    CALL(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    EXPECT(in == previous);
  }
  CALL(MPI_Request_free(&requests[0]));
  CALL(MPI_Request_free(&requests[1]));
  int parts[4] = {rank, rank + 1, rank + 2, rank + 3}, arrived[4] = {0};
  CALL(MPI_Psend_init(parts, 4, 1, MPI_INT, next, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]));
  CALL(MPI_Precv_init(arrived, 2, 2, MPI_INT, previous, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]));
  CALL(MPI_Startall(2, requests));
  CALL(MPI_Pready_range(0, 3, requests[0]));
  CALL(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < 4; ++i) EXPECT(arrived[i] == previous + i);
  CALL(MPI_Request_free(&requests[0]));
  CALL(MPI_Request_free(&requests[1]));
  free(large);
  free(larger);
}

static void add(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *length; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

static void collectives(MPI_Comm comm) {
  int me, members;
  CALL(MPI_Comm_rank(comm, &me));
  CALL(MPI_Comm_size(comm, &members));
  const int total = members * (members - 1) / 2;
  int all[64] = {0}, mine = me, sum = -1, many[500], sums[500];
  CALL(MPI_Barrier(comm));
  sum = me == 0 ? 17 : -1;
  CALL(MPI_Bcast(&sum, 1, MPI_INT, 0, comm));
  EXPECT(sum == 17);
  CALL(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
  EXPECT(sum == total);
  for (int i = 0; i < 500; ++i) many[i] = me + i;
  CALL(MPI_Allreduce(many, sums, 500, MPI_INT, MPI_SUM, comm));
  for (int i = 0; i < 500; ++i) EXPECT(sums[i] == total + members * i);
  CALL(MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, comm));
  for (int i = 0; i < members; ++i) EXPECT(all[i] == i);
  CALL(MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, 0, comm));
  CALL(MPI_Scatter(all, 1, MPI_INT, &sum, 1, MPI_INT, 0, comm));
  EXPECT(sum == me);
  int out[64];
  for (int i = 0; i < members; ++i) out[i] = me * 100 + i;
  CALL(MPI_Alltoall(out, 1, MPI_INT, all, 1, MPI_INT, comm));
  for (int i = 0; i < members; ++i) EXPECT(all[i] == i * 100 + me);
  CALL(MPI_Scan(&mine, &sum, 1, MPI_INT, MPI_SUM, comm));
  EXPECT(sum == me * (me + 1) / 2);
  CALL(MPI_Reduce_scatter_block(out, &sum, 1, MPI_INT, MPI_MAX, comm));
  EXPECT(sum == (members - 1) * 100 + me);
  MPI_Op op;
  CALL(MPI_Op_create(add, 1, &op));
  CALL(MPI_Reduce(&mine, &sum, 1, MPI_INT, op, 0, comm));
  if (me == 0) EXPECT(sum == total);
  // Several at once, and persistent.
  MPI_Request requests[3];
  int first = -1, second = me == 0 ? 5 : -1;
  CALL(MPI_Iallreduce(&mine, &first, 1, MPI_INT, op, comm, &requests[0]));
  CALL(MPI_Ibcast(&second, 1, MPI_INT, 0, comm, &requests[1]));
  CALL(MPI_Ibarrier(comm, &requests[2]));
  CALL(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
  EXPECT(first == total && second == 5);
  CALL(MPI_Allreduce_init(&mine, &first, 1, MPI_INT, MPI_MAX, comm, MPI_INFO_NULL, &requests[0]));
  CALL(MPI_Start(&requests[0]));
  CALL(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
  EXPECT(first == members - 1);
  CALL(MPI_Request_free(&requests[0]));
  CALL(MPI_Op_free(&op));
}

static int copy_attribute(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)key, (void)extra;
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}
static int delete_attribute(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  return MPI_SUCCESS;
}
static int handled;
static void handler(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++handled;
}

static void objects(void) {
  static int value = 42;
  // Datatypes.
  MPI_Datatype vector, nested, structure;
  CALL(MPI_Type_vector(4, 1, 2, MPI_INT, &vector));
  CALL(MPI_Type_commit(&vector));
  const int lengths[2] = {1, 2};
  const MPI_Aint places[2] = {0, 8};
  const MPI_Datatype types[2] = {MPI_DOUBLE, MPI_INT};
  CALL(MPI_Type_create_struct(2, lengths, places, types, &structure));
  CALL(MPI_Type_contiguous(3, structure, &nested));
  CALL(MPI_Type_commit(&nested));
  CALL(MPI_Type_set_name(nested, "three structures with a name that is somewhat long"));
  int strided[8] = {0, 1, 2, 3, 4, 5, 6, 7}, packed[4] = {-1, -1, -1, -1};
  CALL(MPI_Sendrecv(strided, 1, vector, rank, 1, packed, 4, MPI_INT, rank, 1, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
  for (int i = 0; i < 4; ++i) EXPECT(packed[i] == 2 * i);
  char buffer[256];
  int position = 0;
  CALL(MPI_Pack(strided, 1, vector, buffer, sizeof buffer, &position, MPI_COMM_WORLD));
  EXPECT(position == 16);
  int integers, addresses, count, combiner;
  CALL(MPI_Type_get_envelope(structure, &integers, &addresses, &count, &combiner));
  EXPECT(combiner == MPI_COMBINER_STRUCT && count == 2);
  CALL(MPI_Type_free(&vector));
  CALL(MPI_Type_free(&nested));
  CALL(MPI_Type_free(&structure));
  // Infos.
  MPI_Info info, copy;
  char text[64];
  int flag = 0, length = sizeof text;
  CALL(MPI_Info_create(&info));
  CALL(MPI_Info_set(info, "a key that is longer than a short string",
                    "a value that is longer than a short string"));
  CALL(MPI_Info_dup(info, &copy));
  CALL(MPI_Info_get_string(copy, "a key that is longer than a short string", &length, text, &flag));
  EXPECT(flag && strcmp(text, "a value that is longer than a short string") == 0);
  CALL(MPI_Info_free(&copy));
  // Groups.
  MPI_Group world, some, others;
  const int ranks[1] = {0};
  CALL(MPI_Comm_group(MPI_COMM_WORLD, &world));
  CALL(MPI_Group_incl(world, 1, ranks, &some));
  CALL(MPI_Group_difference(world, some, &others));
  CALL(MPI_Group_size(others, &count));
  EXPECT(count == size - 1);
  CALL(MPI_Group_free(&others));
  CALL(MPI_Group_free(&some));
  CALL(MPI_Group_free(&world));
  // Attributes, handlers, communicators.
  int key;
  CALL(MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key, NULL));
  CALL(MPI_Comm_set_attr(MPI_COMM_SELF, key, &value));
  MPI_Comm self, half, dup;
  CALL(MPI_Comm_dup(MPI_COMM_SELF, &self));
  int* found = NULL;
  CALL(MPI_Comm_get_attr(self, key, &found, &flag));
  EXPECT(flag && found == &value);
  MPI_Errhandler errhandler;
  CALL(MPI_Comm_create_errhandler(handler, &errhandler));
  CALL(MPI_Comm_set_errhandler(self, errhandler));
  CALL(MPI_Errhandler_free(&errhandler));
  EXPECT(MPI_Send(&value, 1, MPI_INT, 77, 0, self) != MPI_SUCCESS && handled > 0);
  CALL(MPI_Comm_free(&self));
  CALL(MPI_Comm_delete_attr(MPI_COMM_SELF, key));
  CALL(MPI_Comm_free_keyval(&key));
  CALL(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &dup));
  CALL(MPI_Info_free(&info));
  CALL(MPI_Comm_split(dup, rank % 2, rank, &half));
  CALL(MPI_Comm_set_name(half, "half of all ranks, under a name that is somewhat long"));
  collectives(half);
  MPI_Request request;
  MPI_Comm later;
  CALL(MPI_Comm_idup(dup, &later, &request));
  CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CALL(MPI_Comm_free(&later));
  if (size >= 4 && size % 2 == 0) {
    MPI_Comm grid;
    const int dims[2] = {2, size / 2}, periods[2] = {1, 1};
    CALL(MPI_Cart_create(dup, 2, dims, periods, 0, &grid));
    int sent = rank, got[4];
    CALL(MPI_Neighbor_allgather(&sent, 1, MPI_INT, got, 1, MPI_INT, grid));
    CALL(MPI_Comm_free(&grid));
  }
  int class, code;
  CALL(MPI_Add_error_class(&class));
  CALL(MPI_Add_error_code(class, &code));
  CALL(MPI_Add_error_string(code, "an error of the program with a text that is somewhat long"));
  CALL(MPI_Comm_free(&half));
  CALL(MPI_Comm_free(&dup));
}

int main(int argc, char** argv) {
  if (argc > 1) bytes_of_large = atoi(argv[1]);
  start(&argc, &argv, MPI_THREAD_SINGLE);
  point_to_point();
  collectives(MPI_COMM_WORLD);
  objects();
  finish();
  return 0;
}
