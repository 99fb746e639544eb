/* Makes the mistake that its argument names, on rank 1, under MPI_ERRORS_ARE_FATAL, while the others wait.
 * tests/mpi/fatal.py reads what the user is told. */
#include <pthread.h>

#include "check.h"

static int data[4];

static void bad_rank(void) {
  MPI_Send(data, 1, MPI_INT, 77, 0, MPI_COMM_WORLD);
}
static void bad_tag(void) {
  MPI_Send(data, 1, MPI_INT, 0, -3, MPI_COMM_WORLD);
}
static void bad_count(void) {
  MPI_Recv(data, -4, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void bad_comm(void) {
  MPI_Barrier(MPI_COMM_NULL);
}
static void bad_type(void) {
  MPI_Bcast(data, 1, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD);
}
static void bad_root(void) {
  MPI_Bcast(data, 1, MPI_INT, 9, MPI_COMM_WORLD);
}
static void bad_op(void) {
  MPI_Allreduce(data, data + 1, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD);
}
static void null_buffer(void) {
  MPI_Send(NULL, 2, MPI_INT, 0, 0, MPI_COMM_WORLD);
}
static void uncommitted(void) {
  MPI_Datatype type;
  MPI_Type_contiguous(2, MPI_INT, &type);
  MPI_Send(data, 1, type, 0, 0, MPI_COMM_WORLD);
}
static void truncated(void) {
  MPI_Request request;
  MPI_Isend(data, 4, MPI_INT, 1, 5, MPI_COMM_WORLD, &request);
  MPI_Recv(data, 2, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void call_abort(void) {
  MPI_Abort(MPI_COMM_WORLD, 33);
}
static void errors_abort(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_ABORT);
  MPI_Send(data, 1, MPI_INT, 0, -8, comm);
}
static void own_code(void) {
  int class_;
  MPI_Add_error_class(&class_);
  MPI_Add_error_string(class_, "the flux capacitor is empty");
  MPI_Comm_call_errhandler(MPI_COMM_WORLD, class_);
}
static void large_graph(void) {
  MPI_Comm comm;
  MPI_Graph_create(MPI_COMM_SELF, 2, data, data, 0, &comm);
}
static void after_finalize(void) {
  MPI_Finalize();
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Mistakes of threads that the rank creates. */
static void* send_in_thread(void* unused) {
  MPI_Send(data, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  return unused;
}
static void* finalize_in_thread(void* unused) {
  MPI_Finalize();
  return unused;
}
static void* abort_in_thread(void* unused) {
  MPI_Abort(MPI_COMM_WORLD, 33);
  return unused;
}
static void in_thread(void* (*body)(void*)) {
  pthread_t thread;
  pthread_create(&thread, NULL, body, NULL);
  pthread_join(thread, NULL);
}
static void thread_single(void) {
  in_thread(send_in_thread);
}
static void thread_finalize(void) {
  in_thread(finalize_in_thread);
}
static void thread_abort(void) {
  in_thread(abort_in_thread);
}

static const struct {
  const char* name;
  void (*run)(void);
} kMistakes[] = {{"bad_rank", bad_rank},
                 {"bad_tag", bad_tag},
                 {"bad_count", bad_count},
                 {"bad_comm", bad_comm},
                 {"bad_type", bad_type},
                 {"bad_root", bad_root},
                 {"bad_op", bad_op},
                 {"null_buffer", null_buffer},
                 {"uncommitted", uncommitted},
                 {"truncated", truncated},
                 {"abort", call_abort},
                 {"errors_abort", errors_abort},
                 {"own_code", own_code},
                 {"large_graph", large_graph},
                 {"after_finalize", after_finalize},
                 {"thread_single", thread_single},
                 {"thread_funneled", thread_single},
                 {"thread_finalize", thread_finalize},
                 {"thread_abort", thread_abort}};

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "";
  if (strcmp(name, "before_init") == 0) MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(name, "thread_funneled") == 0 || strcmp(name, "thread_finalize") == 0) {
    int level = strcmp(name, "thread_funneled") == 0 ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE;
    MPI_Init_thread(&argc, &argv, level, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  } else {
    check_begin(&argc, &argv);
  }
  if (world_rank == 1) {
    for (size_t i = 0; i < sizeof kMistakes / sizeof kMistakes[0]; i++)
      if (strcmp(name, kMistakes[i].name) == 0) kMistakes[i].run();
  } else if (strcmp(name, "after_finalize") == 0) {
    MPI_Finalize();
    return 0;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  printf("still alive\n");
  MPI_Finalize();
  return 0;
}
