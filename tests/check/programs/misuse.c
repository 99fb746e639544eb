// A misuse of MPI by its name, for tests/check. The marks "@name" say where it happens.
// A call and its mark stay on one line, the one the test expects in the message.
// clang-format off
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;
static double field[64];

static MPI_Comm duplicate(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);  // @dup
  return comm;
}

static void coming_comm(void) {
  MPI_Comm copy;
  MPI_Request request;
  MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
  MPI_Comm_set_name(copy, "early");
  if (rank == 1) MPI_Barrier(copy);  // @coming_comm
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&copy);
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

// Windows.
static MPI_Win window(MPI_Aint doubles, MPI_Info info) {
  MPI_Win win;
  MPI_Win_create(field, doubles * (MPI_Aint)sizeof(double), sizeof(double), info, MPI_COMM_WORLD, &win);  // @win_made
  return win;
}

static void other_end_of_window(void) {
  MPI_Win win = window(64, MPI_INFO_NULL);
  MPI_Win_set_info(win, MPI_INFO_NULL);
  if (rank == 1)
    MPI_Win_free(&win);  // @win_free
  else
    MPI_Win_fence(0, win);  // @fence
}

static void other_assertion(void) {
  MPI_Win win = window(64, MPI_INFO_NULL);
  MPI_Win_fence(MPI_MODE_NOPRECEDE | (rank == 2 ? MPI_MODE_NOSTORE : 0), win);
  MPI_Win_fence(rank == 1 ? MPI_MODE_NOSUCCEED : 0, win);  // @other_assertion
}

static void other_window_size(void) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "same_size", "true");
  window(rank == 1 ? 32 : 64, info);
}

static void other_unit(void) {
  MPI_Info info;
  MPI_Win win;
  double* base;
  MPI_Info_create(&info);
  MPI_Info_set(info, "same_disp_unit", rank == 2 ? "true" : "false");
  MPI_Win_allocate(rank == 1 ? 32 : 64, rank == 2 ? 8 : 4, info, MPI_COMM_WORLD, &base, &win);  // @other_unit
}

// Files.
static MPI_File open_file(int amode) {
  MPI_File file;
  char path[64];
  int id = (int)getpid();
  MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
  snprintf(path, sizeof(path), "/tmp/tmpi-misuse-%d", id);
  if (MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &file) != MPI_SUCCESS) exit(3);  // @opened
  if (rank == 0) unlink(path);
  return file;
}
static MPI_File new_file(void) { return open_file(MPI_MODE_CREATE | MPI_MODE_RDWR); }

static void other_mode(void) { open_file(MPI_MODE_CREATE | (rank == 1 ? MPI_MODE_WRONLY : MPI_MODE_RDWR)); }

static void other_file_call(void) {
  MPI_File file = new_file();
  MPI_File_write_at_all(file, rank, field, 1, MPI_BYTE, MPI_STATUS_IGNORE);
  if (rank == 1)
    MPI_File_sync(file);  // @sync
  else
    MPI_File_write_ordered(file, field, rank, MPI_BYTE, MPI_STATUS_IGNORE);  // @write_ordered
}

static void whole_or_split(void) {
  MPI_File file = new_file();
  if (rank == 1) {
    MPI_File_write_all_begin(file, field, 1, MPI_DOUBLE);  // @write_all_begin
    MPI_File_write_all_end(file, field, MPI_STATUS_IGNORE);
  } else {
    MPI_File_write_all(file, field, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);  // @write_all
  }
}

// An error of the library leaves the order as it is.
static void other_size(void) {
  MPI_File file = new_file();
  MPI_File_set_size(file, -1);
  MPI_File_read_at_all(file, -1, field, 1, MPI_DOUBLE, MPI_STATUS_IGNORE);
  MPI_File_set_size(file, rank == 1 ? 8 : 16);  // @other_size
}
static void other_allocation(void) { MPI_File_preallocate(new_file(), rank == 1 ? 8 : 16); }  // @other_allocation

// The sizes of the etypes differ, too, but the representation is what is wrong.
static void other_representation(void) {
  MPI_File_set_view(new_file(), 0, rank == 1 ? MPI_BYTE : MPI_INT, MPI_INT, rank == 1 ? "external32" : "native", MPI_INFO_NULL);  // @other_representation
}
static void other_etype(void) { MPI_File_set_view(new_file(), 8 * rank, rank == 1 ? MPI_CHAR : MPI_INT, MPI_INT, "native", MPI_INFO_NULL); }  // @other_etype
static void other_offset(void) { MPI_File_seek_shared(new_file(), rank == 1 ? 4 : 0, MPI_SEEK_SET); }  // @other_offset
static void other_whence(void) { MPI_File_seek_shared(new_file(), 0, rank == 1 ? MPI_SEEK_END : MPI_SEEK_CUR); }  // @other_whence
static void other_flag(void) { MPI_File_set_atomicity(new_file(), rank == 1); }  // @other_flag

static MPI_File begun(void) {
  MPI_File file = new_file();
  MPI_File_write_at_all_begin(file, 8 * rank, field, 1, MPI_DOUBLE);  // @begun
  return file;
}
static void split_sync(void) { MPI_File_sync(begun()); }  // @split_sync
static void split_view(void) { MPI_File_set_view(begun(), 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL); }  // @split_view
static void split_size(void) { MPI_File_set_size(begun(), 100); }  // @split_size
static void split_allocation(void) { MPI_File_preallocate(begun(), 100); }  // @split_allocation
static void split_close(void) {
  MPI_File file = begun();
  MPI_File_close(&file);  // @split_close
}
static void split_write(void) {
  MPI_Request request;
  MPI_File_iwrite_all(begun(), field, 1, MPI_DOUBLE, &request);  // @split_write
}
static void split_twice(void) { MPI_File_read_all_begin(begun(), field + 8, 1, MPI_DOUBLE); }  // @split_twice
static void split_other_end(void) { MPI_File_write_all_end(begun(), field, MPI_STATUS_IGNORE); }  // @split_other_end
static void* end_it(void* file) {
  MPI_File_write_at_all_end(*(MPI_File*)file, field, MPI_STATUS_IGNORE);  // @split_other_thread
  return NULL;
}
static void split_other_thread(void) {
  pthread_t thread;
  MPI_File file = begun();
  pthread_create(&thread, NULL, end_it, &file);
  pthread_join(thread, NULL);
}
static void split_no_begin(void) { MPI_File_read_ordered_end(new_file(), field, MPI_STATUS_IGNORE); }  // @split_no_begin

static void pending_sync(void) {
  MPI_Request request;
  MPI_File file = new_file();
  MPI_File_iwrite_at(file, 8 * rank, field, 1, MPI_DOUBLE, &request);  // @pending_write
  MPI_File_sync(file);  // @pending_sync
}

// What may differ, and what may come between the halves.
static void clean_windows_and_files(void) {
  MPI_Win win = window(rank == 1 ? 32 : 64, MPI_INFO_NULL);
  MPI_Win_fence(rank == 1 ? MPI_MODE_NOSTORE : 0, win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED | (rank == 1 ? MPI_MODE_NOPUT : 0), win);
  MPI_Win_free(&win);
  MPI_File file = new_file();
  MPI_Request request;
  MPI_Offset offset;
  MPI_File_set_view(file, 8 * rank, rank == 1 ? MPI_FLOAT : MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
  MPI_File_write_all_begin(file, field, rank, MPI_INT);
  MPI_File_get_position(file, &offset);
  MPI_File_iwrite_at(file, 100, field + 8, 1, MPI_INT, &request);
  MPI_File_set_atomicity(file, 1);
  MPI_File_write_all_end(file, field + 1, MPI_STATUS_IGNORE);  // refused: another buffer
  MPI_File_write_all_end(file, field, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_set_atomicity(file, rank + 1);
  MPI_File_set_size(file, 0);
  MPI_File_iread_all(file, field, 1, MPI_INT, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
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
  MPI_Reduce(&yes, &all, 1, MPI_LONG, MPI_REPLACE, 0, MPI_COMM_WORLD);  // @replace
  MPI_Allreduce(&yes, &all, 1, MPI_LONG, MPI_LAND, MPI_COMM_WORLD);
}

// The ABI's MPI_DISTRIBUTE_DFLT_DARG is a number like others.
static void nineteen(void) {
  MPI_Datatype type;
  const int sizes[] = {64, 64}, cyclic[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK}, processes[] = {2, 2};
  const int other[] = {18, MPI_DISTRIBUTE_DFLT_DARG}, nineteen_of[] = {19, MPI_DISTRIBUTE_DFLT_DARG};
  for (int i = 0; i < 2; ++i) {
    const int* arguments = i == 0 ? other : nineteen_of;
    MPI_Type_create_darray(4, rank, 2, sizes, cyclic, arguments, processes, MPI_ORDER_C, MPI_INT, &type);  // @nineteen
    MPI_Type_free(&type);
  }
}

static void leaks(void) {
  MPI_Comm comm;
  MPI_Request request;
  MPI_Datatype type;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &comm);  // @leaked_comm
  if (rank != 1) MPI_Recv_init(field, 1, MPI_DOUBLE, 0, 0, comm, &request);  // @leaked_request
  for (int i = 0; i < 3; ++i) MPI_Type_contiguous(2, MPI_INT, &type);  // @leaked_type
}

// Between two fences nothing orders what members do with a window. Each rank finds its race by what another has done, so that who comes first says
// which of both lines is shown.
static void window_races(void) {
  MPI_Win win;
  const int one = 1;
  int got[4];
  const short half = 1;
  MPI_Win_create(field, sizeof field, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  if (rank == 1) MPI_Put(&one, 1, MPI_INT, 0, 2, 1, MPI_INT, win);                                // @race_put
  if (rank == 2) MPI_Get(got, 4, MPI_INT, 0, 0, 4, MPI_INT, win);                                 // @race_get
  if (rank == 1) MPI_Accumulate(&one, 1, MPI_INT, 0, 10, 1, MPI_INT, MPI_SUM, win);               // @race_int
  if (rank == 3) MPI_Accumulate(&half, 1, MPI_SHORT, 0, 10, 1, MPI_SHORT, MPI_SUM, win);          // @race_short
  if (rank == 3) MPI_Put(&one, 1, MPI_INT, 1, 20, 1, MPI_INT, win), MPI_Put(&one, 1, MPI_INT, 1, 20, 1, MPI_INT, win);  // @race_own
  if (rank == 2) MPI_Get(got + 3, 1, MPI_INT, 1, 30, 1, MPI_INT, win);  // @race_buffer
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

// As the last ones, but in different epochs, of different memory, or of calls that may be together.
static void no_window_races(void) {
  MPI_Win win;
  const int one = 1;
  int got[4], fetched[5];
  MPI_Win_create(field, sizeof field, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  MPI_Get(got, 4, MPI_INT, 0, 0, 4, MPI_INT, win);
  MPI_Accumulate(&one, 1, MPI_INT, 0, 10, 1, MPI_INT, MPI_SUM, win);
  MPI_Fetch_and_op(&one, fetched, MPI_INT, 0, 10, MPI_SUM, win);
  MPI_Get_accumulate(NULL, 0, MPI_INT, fetched + 1, 4, MPI_INT, 0, 0, 4, MPI_INT, MPI_NO_OP, win);
  MPI_Put(&one, 1, MPI_INT, 1, 20 + rank, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  if (rank == 0) MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
  if (rank == 0) MPI_Put(&one, 1, MPI_INT, 1, 0, 1, MPI_INT, win);
  MPI_Win_fence(0, win);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
  MPI_Put(&one, 1, MPI_INT, 0, rank, 1, MPI_INT, win);
  MPI_Win_unlock(0, win);
  MPI_Win_free(&win);
}

// Messages that nobody has received when MPI is finalized; one has been, one is the library's own.
static void unreceived(void) {
  if (rank == 3) {
    for (int i = 0; i < 2; ++i) MPI_Send(field, 8, MPI_DOUBLE, 0, 5, MPI_COMM_WORLD);
    MPI_Send(field, 8, MPI_DOUBLE, 1, 5, MPI_COMM_WORLD);
    MPI_Send(field, 8, MPI_DOUBLE, 1, 6, MPI_COMM_WORLD);
  }
  if (rank == 1) MPI_Recv(field, 8, MPI_DOUBLE, 3, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Bcast(field, 8, MPI_DOUBLE, 0, MPI_COMM_WORLD);
}

// A collective call that one rank leaves out, with nothing behind it but the end.
static void left_out(void) {
  if (rank != 2) MPI_Reduce(field, field + 8, 1, MPI_DOUBLE, MPI_SUM, 2, MPI_COMM_WORLD);  // @left_out
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
  clean_windows_and_files();
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } cases[] = {
      {"coming_comm", coming_comm}, {"freed_comm", freed_comm}, {"freed_type", freed_type}, {"completed_request", completed_request}, {"foreign", foreign},
      {"garbage", garbage}, {"two_receives", two_receives}, {"send_from_receive", send_from_receive},
      {"receive_into_send", receive_into_send}, {"persistent", persistent}, {"reduction", reduction},
      {"other_function", other_function}, {"other_root", other_root}, {"other_server", other_server}, {"other_op", other_op}, {"other_count", other_count},
      {"other_type", other_type}, {"other_block", other_block}, {"other_creation", other_creation}, {"liberties", liberties}, {"nineteen", nineteen},
      {"own_chunk", own_chunk}, {"own_type", own_type}, {"own_counts", own_counts}, {"own_root", own_root},
      {"aliased", aliased}, {"aliased_chunk", aliased_chunk}, {"aliased_sum", aliased_sum},
      {"aliased_neighbours", aliased_neighbours}, {"aliased_neighbours_v", aliased_neighbours_v}, {"pending_neighbours", pending_neighbours},
      {"other_end_of_window", other_end_of_window}, {"other_assertion", other_assertion}, {"other_window_size", other_window_size}, {"other_unit", other_unit},
      {"other_mode", other_mode}, {"other_file_call", other_file_call}, {"whole_or_split", whole_or_split}, {"other_size", other_size},
      {"other_allocation", other_allocation}, {"other_representation", other_representation}, {"other_etype", other_etype}, {"other_offset", other_offset},
      {"other_whence", other_whence}, {"other_flag", other_flag}, {"split_sync", split_sync}, {"split_view", split_view},
      {"split_size", split_size}, {"split_allocation", split_allocation}, {"split_close", split_close}, {"split_write", split_write},
      {"split_twice", split_twice}, {"split_other_end", split_other_end}, {"split_no_begin", split_no_begin}, {"pending_sync", pending_sync},
      {"split_other_thread", split_other_thread},
      {"window_races", window_races}, {"no_window_races", no_window_races}, {"unreceived", unreceived}, {"left_out", left_out}, {"leaks", leaks}, {"clean", clean},
  };
  int provided;
  const int threads = strcmp(argv[1], "split_other_thread") == 0;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    if (strcmp(cases[i].name, argv[1]) == 0) cases[i].run();
  }
  MPI_Finalize();  // @finalize
  return argc > 2 ? atoi(argv[2]) : 0;
}
