/* Error handlers: kinds, inheritance, their own lives, and the codes that a program adds. MPI report, 9.3
 * to 9.5. */
#include "check.h"

static int calls;
static MPI_Comm seen;
static int seen_code;

static void note(MPI_Comm* comm, int* code, ...) {
  calls++;
  seen = *comm;
  seen_code = *code;
}

/* Calls MPI, takes itself off the communicator, and is freed by that. */
static void restless(MPI_Comm* comm, int* code, ...) {
  (void)code;
  int sum = 0, one = 1;
  calls++;
  CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, *comm));
  CHECK_EQ(sum, world_size);
  CHECK_OK(MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN));
}

static int fails(MPI_Comm comm) {
  return class_of(MPI_Send(NULL, -1, MPI_INT, 0, 0, comm));
}

static void test_inheritance(void) {
  MPI_Errhandler mine;
  MPI_Comm parent, child;
  MPI_Group group;
  CHECK_OK(MPI_Comm_create_errhandler(note, &mine));
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &parent));
  CHECK_OK(MPI_Comm_set_errhandler(parent, mine));
  CHECK_OK(MPI_Errhandler_free(&mine));
  CHECK_OK(MPI_Comm_group(parent, &group));
  int dims[1] = {world_size}, periods[1] = {0}, index[1] = {1}, edges[1] = {0};
  int* volatile none = MPI_WEIGHTS_EMPTY; /* volatile: gcc warns of the constant */
  for (int way = 0; way < 7; way++) {
    child = MPI_COMM_NULL;
    switch (way) {
      case 0:
        CHECK_OK(MPI_Comm_dup(parent, &child));
        break;
      case 1:
        CHECK_OK(MPI_Comm_split(parent, world_rank % 2, 0, &child));
        break;
      case 2:
        CHECK_OK(MPI_Comm_create(parent, group, &child));
        break;
      case 3:
        CHECK_OK(MPI_Cart_create(parent, 1, dims, periods, 0, &child));
        break;
      case 4:
        CHECK_OK(MPI_Graph_create(parent, 1, index, edges, 0, &child));
        break;
      case 5:
        CHECK_OK(
            MPI_Dist_graph_create_adjacent(parent, 0, NULL, none, 0, NULL, none, MPI_INFO_NULL, 0, &child));
        break;
      case 6:
        CHECK_OK(MPI_Comm_split_type(parent, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &child));
        break;
    }
    if (child == MPI_COMM_NULL) continue;
    calls = 0;
    CHECK_EQ(fails(child), MPI_ERR_COUNT);
    CHECK_EQ(calls, 1);
    CHECK(seen == child);
    CHECK_EQ(class_of(seen_code), MPI_ERR_COUNT);
    CHECK_OK(MPI_Comm_free(&child));
  }
  CHECK_OK(MPI_Group_free(&group));
  CHECK_OK(MPI_Comm_free(&parent));
}

static void test_restless(void) {
#ifdef MPI_ABI_VERSION
  MPI_Errhandler handler;
  MPI_Comm comm;
  CHECK_OK(MPI_Comm_create_errhandler(restless, &handler));
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  CHECK_OK(MPI_Comm_set_errhandler(comm, handler));
  CHECK_OK(MPI_Errhandler_free(&handler));
  calls = 0;
  CHECK_EQ(fails(comm), MPI_ERR_COUNT);
  CHECK_EQ(fails(comm), MPI_ERR_COUNT);
  CHECK_EQ(calls, 1);
  CHECK_OK(MPI_Comm_free(&comm));
#endif
}

/* Handles onto predefined handlers can be freed any number of times. */
static void test_predefined(void) {
  MPI_Comm comm;
  MPI_Errhandler got;
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  for (int i = 0; i < 5; i++) {
    CHECK_OK(MPI_Comm_get_errhandler(comm, &got));
    CHECK(got == MPI_ERRORS_RETURN);
    CHECK_OK(MPI_Errhandler_free(&got));
    CHECK(got == MPI_ERRHANDLER_NULL);
  }
#if MPI_VERSION >= 4
  CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_ABORT));
  CHECK_OK(MPI_Comm_get_errhandler(comm, &got));
  CHECK(got == MPI_ERRORS_ABORT);
#endif
  CHECK_OK(MPI_Comm_free(&comm));
}

static void test_user_handles(void) {
  MPI_Errhandler handler, got, again;
  MPI_Comm comm;
  CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
  CHECK_OK(MPI_Comm_create_errhandler(note, &handler));
  CHECK_OK(MPI_Comm_set_errhandler(comm, handler));
  CHECK_OK(MPI_Comm_get_errhandler(comm, &got));
  CHECK_OK(MPI_Comm_get_errhandler(comm, &again));
  CHECK(got == again);
  CHECK_OK(MPI_Errhandler_free(&got));
  CHECK_OK(MPI_Errhandler_free(&handler));
  CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Comm_set_errhandler(comm, again)); /* the last handle still holds it */
  CHECK_OK(MPI_Errhandler_free(&again));
  calls = 0;
  CHECK_OK(MPI_Comm_call_errhandler(comm, MPI_ERR_TOPOLOGY));
  CHECK_EQ(calls, 1);
  CHECK_EQ(class_of(seen_code), MPI_ERR_TOPOLOGY);
  CHECK_OK(MPI_Comm_free(&comm));
}

/* A call without a communicator raises its error on MPI_COMM_SELF (MPI-4). */
static void test_self(void) {
#ifdef MPI_ABI_VERSION
  MPI_Errhandler handler;
  CHECK_OK(MPI_Comm_create_errhandler(note, &handler));
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, handler));
  CHECK_OK(MPI_Errhandler_free(&handler));
  calls = 0;
  int size;
  CHECK_CLASS(MPI_Type_size(MPI_DATATYPE_NULL, &size), MPI_ERR_TYPE);
  CHECK_EQ(calls, 1);
  CHECK(seen == MPI_COMM_SELF);
  CHECK_CLASS(MPI_Send(NULL, 0, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);
  CHECK_EQ(calls, 2);
#endif
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
}

#ifdef MPI_ABI_VERSION
static void session_handler(MPI_Session* session, int* code, ...) {
  (void)session, (void)code;
}
#endif

static void test_errors(void) {
  MPI_Comm comm;
  MPI_Errhandler none = MPI_ERRHANDLER_NULL;
  CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
  CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
#ifdef MPI_ABI_VERSION
  MPI_Errhandler other;
  CHECK_CLASS(MPI_Comm_set_errhandler(comm, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER);
  CHECK_CLASS(MPI_Errhandler_free(&none), MPI_ERR_ERRHANDLER);
  CHECK_CLASS(MPI_Comm_create_errhandler(NULL, &other), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Comm_create_errhandler(note, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Comm_get_errhandler(comm, NULL), MPI_ERR_ARG);
  CHECK_OK(MPI_Session_create_errhandler(session_handler, &other));
  CHECK_CLASS(MPI_Comm_set_errhandler(comm, other), MPI_ERR_ERRHANDLER); /* of another kind */
  CHECK_OK(MPI_Errhandler_free(&other));
#endif
  CHECK_CLASS(MPI_Comm_set_errhandler(MPI_COMM_NULL, MPI_ERRORS_RETURN), MPI_ERR_COMM);
  (void)none;
  CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  test_inheritance();
  test_restless();
  test_predefined();
  test_user_handles();
  test_self();
  test_errors();
  return check_end();
}
