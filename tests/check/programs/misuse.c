// A misuse of MPI by its name, for tests/check. The marks "@name" say where it happens.
// A call and its mark stay on one line, the one the test expects in the message.
// clang-format off
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static double field[64];

static MPI_Comm duplicate(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);  // @dup
  return comm;
}

static void freed_comm(void) {
  MPI_Comm comm = duplicate(), copy = comm;
  MPI_Comm_free(&comm);  // @comm_free
  if (rank == 1) MPI_Barrier(copy);  // @freed_comm
  MPI_Barrier(MPI_COMM_WORLD);
}

static void freed_type(void) {
  MPI_Datatype type;
  MPI_Type_contiguous(3, MPI_INT, &type);  // @type_made
  MPI_Type_commit(&type);
  const MPI_Datatype copy = type;
  MPI_Type_free(&type);  // @type_free
  int data[3] = {0};
  MPI_Bcast(data, 1, copy, 0, MPI_COMM_WORLD);  // @freed_type
}

static void completed_request(void) {
  MPI_Request requests[2], copies[2];
  for (int i = 0; i < 2; ++i) MPI_Irecv(field + i, 1, MPI_DOUBLE, rank, i, MPI_COMM_WORLD, &requests[i]);  // @irecv
  memcpy(copies, requests, sizeof(copies));
  for (int i = 0; i < 2; ++i) MPI_Send(field + 8, 1, MPI_DOUBLE, rank, i, MPI_COMM_WORLD);
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);  // @wait
  MPI_Waitall(2, copies, MPI_STATUSES_IGNORE);  // @completed
}

static void foreign(void) {
  MPI_Comm comm = duplicate();
  MPI_Bcast(&comm, sizeof(comm), MPI_BYTE, 0, MPI_COMM_WORLD);
  if (rank == 1) MPI_Send(field, 1, MPI_DOUBLE, 0, 0, comm);  // @foreign
  MPI_Barrier(MPI_COMM_WORLD);
}

static void garbage(void) {
  MPI_Request request;
  memset(&request, 0x55, sizeof(request));
  MPI_Wait(&request, MPI_STATUS_IGNORE);  // @garbage
}

static void two_receives(void) {
  MPI_Request requests[2];
  MPI_Irecv(field, 10, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, &requests[0]);  // @first_receive
  MPI_Irecv(field + 9, 10, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD, &requests[1]);  // @second_receive
}

static void send_from_receive(void) {
  MPI_Request request;
  MPI_Irecv(field, 10, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD, &request);  // @pending_receive
  MPI_Send(field + 5, 1, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD);  // @send_from_receive
}

static void receive_into_send(void) {
  MPI_Request request;
  MPI_Datatype column;
  MPI_Type_vector(8, 1, 8, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  MPI_Isend(field + 1, 1, column, rank, 1, MPI_COMM_WORLD, &request);  // @pending_send
  double other;
  MPI_Recv(&other, 0, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(field + 9, 1, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  // @receive_into_send
}

static void persistent(void) {
  MPI_Request requests[2];
  MPI_Recv_init(field, 4, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD, &requests[0]);  // @persistent_first
  MPI_Recv_init(field + 3, 4, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD, &requests[1]);
  for (int i = 0; i < 2; ++i) {
    MPI_Start(&requests[i]);
    MPI_Send(field + 20, 4, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD);
    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  }
  MPI_Startall(2, requests);  // @startall
}

static void reduction(void) {
  MPI_Request request;
  MPI_Iallreduce(field, field + 8, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);  // @iallreduce
  MPI_Bcast(field + 15, 2, MPI_DOUBLE, (rank + 1) % size == 0 ? rank : size - 1, MPI_COMM_WORLD);  // @bcast_on_reduction
}

static void other_function(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 2)
    MPI_Allreduce(field, field + 8, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);  // @allreduce
  else
    MPI_Barrier(MPI_COMM_WORLD);  // @barrier
}

static void other_server(void) {
  MPI_Comm inter;
  MPI_Comm_accept("", MPI_INFO_NULL, rank == 1 ? 1 : 0, MPI_COMM_WORLD, &inter);  // @other_server
}
static void other_root(void) { MPI_Bcast(field, 1, MPI_DOUBLE, rank == 1 ? 1 : 0, MPI_COMM_WORLD); }  // @other_root

static void other_op(void) {
  MPI_Comm comm = duplicate();
  MPI_Allreduce(field, field + 8, 1, MPI_DOUBLE, rank == 1 ? MPI_MAX : MPI_SUM, comm);  // @other_op
}

static void other_count(void) {
  MPI_Request request;
  MPI_Ireduce(field, field + 8, rank == 1 ? 3 : 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD, &request);  // @other_count
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void other_type(void) { MPI_Bcast(field, 2, rank == 1 ? MPI_INT : MPI_FLOAT, 0, MPI_COMM_WORLD); }  // @other_type

static void other_block(void) {
  MPI_Gather(field, rank == 1 ? 3 : 2, MPI_INT, field + 8, 2, MPI_INT, 0, MPI_COMM_WORLD);  // @other_block
}

static void own_chunk(void) {
  MPI_Allgather(field, 2, MPI_INT, field + 8, 3, MPI_INT, MPI_COMM_WORLD);  // @own_chunk
}

static void own_type(void) {
  MPI_Alltoall(field, 1, MPI_INT, field + 8, 1, MPI_FLOAT, MPI_COMM_WORLD);  // @own_type
}

static void own_counts(void) {
  const int counts[] = {1, 1, 2, 1}, displs[] = {0, 1, 2, 4};
  MPI_Request request;
  MPI_Iallgatherv(field, 1, MPI_DOUBLE, field + 8, counts, displs, MPI_DOUBLE, MPI_COMM_WORLD, &request);  // @own_counts
}

static void own_root(void) {
  MPI_Gather(field, 2, MPI_INT, field + 8, 3, MPI_INT, 2, MPI_COMM_WORLD);  // @own_root
}

static void aliased(void) {
  MPI_Allgather(field, 2, MPI_DOUBLE, field, 2, MPI_DOUBLE, MPI_COMM_WORLD);  // @aliased
}

static void aliased_chunk(void) {
  const int counts[] = {1, 1, 1, 1}, from[] = {0, 10, 20, 30}, to[] = {41, 30, 43, 44};
  MPI_Alltoallv(field, counts, from, MPI_DOUBLE, field, counts, to, MPI_DOUBLE, MPI_COMM_WORLD);  // @aliased_chunk
}

static void aliased_sum(void) {
  MPI_Request request;
  MPI_Allreduce_init(field, field + 3, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);  // @aliased_sum
}

static MPI_Comm ring(void) {
  MPI_Comm comm;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &(int){1}, 0, &comm);
  return comm;
}

static void aliased_neighbours(void) {
  MPI_Neighbor_alltoall(field, 1, MPI_DOUBLE, field + 1, 1, MPI_DOUBLE, ring());  // @aliased_neighbours
}

static void aliased_neighbours_v(void) {
  const int counts[] = {1, 1}, displs[] = {4, 2};
  MPI_Request request;
  MPI_Ineighbor_allgatherv(field + 4, 1, MPI_DOUBLE, field, counts, displs, MPI_DOUBLE, ring(), &request);  // @aliased_neighbours_v
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void pending_neighbours(void) {
  MPI_Request request;
  MPI_Ineighbor_alltoall(field, 1, MPI_DOUBLE, field + 8, 1, MPI_DOUBLE, ring(), &request);  // @pending_neighbours
  MPI_Bcast(field + 9, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);  // @bcast_on_neighbours
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void other_creation(void) {
  MPI_Comm comm;
  if (rank == 1)
    MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &comm);  // @split
  else
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);  // @dup_instead
}

// What is accepted beyond the report.
static void liberties(void) {
  long yes = 1, all = 0;
  MPI_Aint here = 1, there = 0;
  char name[MPI_MAX_OBJECT_NAME];
  int length;
  for (int i = 0; i < 3; ++i) MPI_Allreduce(field, field + 8, 1, MPI_DOUBLE, MPI_LXOR, MPI_COMM_WORLD);  // @lxor
  if (rank > 0) MPI_Reduce_local(&here, &there, 1, MPI_AINT, MPI_LAND);  // @land
  if (rank == 2) MPI_Type_get_name(MPI_LB, name, &length);  // @marker
  MPI_Allreduce(&yes, &all, 1, MPI_LONG, MPI_LAND, MPI_COMM_WORLD);
}

static void leaks(void) {
  MPI_Comm comm;
  MPI_Request request;
  MPI_Datatype type;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &comm);  // @leaked_comm
  if (rank != 1) MPI_Recv_init(field, 1, MPI_DOUBLE, 0, 0, comm, &request);  // @leaked_request
  for (int i = 0; i < 3; ++i) MPI_Type_contiguous(2, MPI_INT, &type);  // @leaked_type
}

static int free_with_self(MPI_Comm comm, int key, void* value, void* state) {
  (void)comm, (void)key, (void)state;
  return MPI_Comm_free(value);
}

// What is freed by a callback of MPI_Finalize is not leaked, and what is completed may be used again.
static void clean(void) {
  static MPI_Comm library;
  int key;
  library = duplicate();
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_with_self, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, &library);
  MPI_Comm_free_keyval(&key);
  MPI_Datatype column;
  MPI_Type_vector(8, 1, 8, MPI_DOUBLE, &column);
  MPI_Type_commit(&column);
  for (int step = 0; step < 3; ++step) {
    MPI_Request requests[16];
    for (int i = 0; i < 8; ++i) MPI_Irecv(field + i, 1, column, rank, i, library, &requests[i]);
    double out[8] = {0};
    for (int i = 0; i < 8; ++i) MPI_Isend(out, 8, MPI_DOUBLE, rank, i, library, &requests[8 + i]);
    MPI_Waitall(16, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Type_free(&column);
  // One array for both sides, but other parts of it; and what is in place.
  const int counts[] = {1, 1, 1, 1}, from[] = {0, 10, 20, 30}, to[] = {1, 11, 21, 31};
  MPI_Alltoallv(field, counts, from, MPI_DOUBLE, field, counts, to, MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, field, 2, MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Allgather(field, 8, MPI_BYTE, field + 8, 1, MPI_DOUBLE, MPI_COMM_WORLD);
  MPI_Gather(field, 1, MPI_DOUBLE, rank == 1 ? field + 1 : field, rank == 1 ? 1 : 7, MPI_DOUBLE, 1, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, field, 8, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  MPI_Reduce_scatter_block(field, field + 16, 4, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } cases[] = {
      {"freed_comm", freed_comm}, {"freed_type", freed_type}, {"completed_request", completed_request}, {"foreign", foreign},
      {"garbage", garbage}, {"two_receives", two_receives}, {"send_from_receive", send_from_receive},
      {"receive_into_send", receive_into_send}, {"persistent", persistent}, {"reduction", reduction},
      {"other_function", other_function}, {"other_root", other_root}, {"other_server", other_server}, {"other_op", other_op}, {"other_count", other_count},
      {"other_type", other_type}, {"other_block", other_block}, {"other_creation", other_creation}, {"liberties", liberties},
      {"own_chunk", own_chunk}, {"own_type", own_type}, {"own_counts", own_counts}, {"own_root", own_root},
      {"aliased", aliased}, {"aliased_chunk", aliased_chunk}, {"aliased_sum", aliased_sum},
      {"aliased_neighbours", aliased_neighbours}, {"aliased_neighbours_v", aliased_neighbours_v}, {"pending_neighbours", pending_neighbours},
      {"leaks", leaks}, {"clean", clean},
  };
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    if (strcmp(cases[i].name, argv[1]) == 0) cases[i].run();
  }
  MPI_Finalize();
  return argc > 2 ? atoi(argv[2]) : 0;
}
