/* Sessions: without, before, beside and after MPI_Init; process sets; several at a time; again after the last
 * has ended. MPI report, 11.3. */
#include "check.h"

static int calls; /* of the session's error handler */
static void handler(MPI_Session* session, int* code, ...) {
  (void)session, (void)code;
  calls++;
}

static MPI_Session open_session(void) {
  MPI_Session session = MPI_SESSION_NULL;
  CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  CHECK(session != MPI_SESSION_NULL);
  return session;
}

static void close_session(MPI_Session* session) {
  CHECK_OK(MPI_Session_finalize(session));
  CHECK(*session == MPI_SESSION_NULL);
}

static MPI_Comm comm_of(MPI_Session session, const char* set, const char* tag) {
  MPI_Group group;
  MPI_Comm comm;
  CHECK_OK(MPI_Group_from_session_pset(session, set, &group));
  CHECK_OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
  CHECK_OK(MPI_Group_free(&group));
  return comm;
}

static void check_sum(MPI_Comm comm, int size) {
  int one = 1, sum = 0;
  CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
  CHECK_EQ(sum, size);
}

static void check_flags(int initialized, int finalized) {
  int flag = -1;
  CHECK_OK(MPI_Initialized(&flag));
  CHECK_EQ(flag, initialized);
  CHECK_OK(MPI_Finalized(&flag));
  CHECK_EQ(flag, finalized);
}

/* The names of all sets; their sizes agree with their groups. */
static void test_sets(MPI_Session session) {
  int sets = 0, world = 0, self = 0;
  CHECK_OK(MPI_Session_get_num_psets(session, MPI_INFO_NULL, &sets));
  CHECK(sets >= 2);
  for (int i = 0; i < sets; i++) {
    char name[MPI_MAX_PSET_NAME_LEN], start[5] = "****", value[16];
    int length = 0, all, size = -1, rank = -1, flag = 0, room = sizeof value;
    MPI_Info info;
    MPI_Group group;
    CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, NULL)); /* how long is it? */
    all = length;
    CHECK(all > 4 && all <= MPI_MAX_PSET_NAME_LEN);
    CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, name));
    CHECK_EQ((int)strlen(name) + 1, all);
    length = sizeof start; /* cut off */
    CHECK_OK(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, &length, start));
    CHECK_EQ(length, all);
    CHECK(strlen(start) == sizeof start - 1 && strncmp(start, name, sizeof start - 1) == 0);
    CHECK_OK(MPI_Group_from_session_pset(session, name, &group));
    CHECK_OK(MPI_Group_size(group, &size));
    CHECK_OK(MPI_Group_rank(group, &rank));
    CHECK(rank >= 0 && rank < size);
    CHECK_OK(MPI_Session_get_pset_info(session, name, &info));
    CHECK_OK(MPI_Info_get_string(info, "mpi_size", &room, value, &flag));
    CHECK(flag);
    CHECK_EQ(atoi(value), size);
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_Group_free(&group));
    world += strcmp(name, "mpi://WORLD") == 0;
    self += strcmp(name, "mpi://SELF") == 0;
  }
  CHECK_EQ(world, 1);
  CHECK_EQ(self, 1);
}

/* Two sessions with a communicator each; the first ends while the second works. */
static void test_two(void) {
  MPI_Session one = open_session(), two = open_session();
  MPI_Comm a = comm_of(one, "mpi://WORLD", "a"), b = comm_of(two, "mpi://WORLD", "b"),
           self = comm_of(two, "mpi://SELF", "c");
  int result;
  CHECK_OK(MPI_Comm_compare(a, b, &result));
  CHECK_EQ(result, MPI_CONGRUENT);
  check_sum(a, world_size);
  CHECK_OK(MPI_Comm_free(&a));
  close_session(&one);
  check_sum(b, world_size);
  check_sum(self, 1);
  int right = (world_rank + 1) % world_size, got = -1;
  MPI_Request request;
  CHECK_OK(MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 3, b, &request));
  CHECK_OK(MPI_Send(&world_rank, 1, MPI_INT, right, 3, b));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_EQ(got, (world_rank + world_size - 1) % world_size);
  CHECK_OK(MPI_Comm_free(&self));
  CHECK_OK(MPI_Comm_disconnect(&b));
  close_session(&two);
}

/* Errors of MPI_Session_init go to the handler that it is given, whether MPI can be used or not. */
static void test_refused(void) {
#ifdef MPI_ABI_VERSION
  MPI_Info info;
  MPI_Session session;
  MPI_Errhandler mine;
  const int before = calls;
  CHECK_OK(MPI_Info_create(&info));
  CHECK_OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_SOMETIMES"));
  CHECK_CLASS(MPI_Session_init(info, MPI_ERRORS_RETURN, &session), MPI_ERR_INFO_VALUE);
  CHECK_CLASS(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, NULL), MPI_ERR_ARG);
  CHECK_OK(MPI_Session_create_errhandler(handler, &mine));
  CHECK_CLASS(MPI_Session_init(info, mine, &session), MPI_ERR_INFO_VALUE);
  CHECK_EQ(calls, before + 1);
  CHECK_OK(MPI_Errhandler_free(&mine));
  CHECK_OK(MPI_Info_free(&info));
#endif
}

static void test_info(void) {
  MPI_Info info, used;
  MPI_Session session;
  char value[40];
  int flag = 0, room = sizeof value, before = calls;
  MPI_Errhandler mine;
  MPI_Group group;
  CHECK_OK(MPI_Info_create(&info));
  CHECK_OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_FUNNELED"));
  CHECK_OK(MPI_Session_create_errhandler(handler, &mine));
  CHECK_OK(MPI_Session_init(info, mine, &session));
  CHECK_OK(MPI_Session_get_info(session, &used));
  CHECK_OK(MPI_Info_get_string(used, "thread_level", &room, value, &flag));
  CHECK(flag && strncmp(value, "MPI_THREAD_", 11) == 0);
  CHECK_OK(MPI_Info_free(&used));
  /* Errors of the session's functions go to its error handler. */
  CHECK_CLASS(MPI_Group_from_session_pset(session, "mpi://NOBODY", &group), MPI_ERR_ARG);
  CHECK_EQ(calls, before + 1);
  CHECK(group == MPI_GROUP_NULL);
  CHECK_OK(MPI_Session_call_errhandler(session, MPI_ERR_OTHER));
  CHECK_EQ(calls, before + 2);
  CHECK_OK(MPI_Session_set_errhandler(session, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Errhandler_free(&mine));
  CHECK_OK(MPI_Session_get_errhandler(session, &mine));
  CHECK(mine == MPI_ERRORS_RETURN);
#ifdef MPI_ABI_VERSION
  int length = 0;
  CHECK_CLASS(MPI_Session_get_nth_pset(session, MPI_INFO_NULL, 1000, &length, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Session_get_num_psets(session, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Session_get_pset_info(session, "mpi://nobody", &used), MPI_ERR_ARG);
  CHECK_OK(MPI_Group_from_session_pset(session, "MPI://world", &group)); /* URIs have no case */
  CHECK_OK(MPI_Group_free(&group));
#endif
  CHECK_OK(MPI_Info_free(&info));
  test_refused();
  close_session(&session);
}

int main(int argc, char** argv) {
  test_refused();
  /* Without MPI_Init: the size of the world from its set. */
  MPI_Session session = open_session();
  MPI_Comm comm = comm_of(session, "mpi://WORLD", "first");
  CHECK_OK(MPI_Comm_rank(comm, &world_rank));
  CHECK_OK(MPI_Comm_size(comm, &world_size));
  check_flags(0, 0);
  test_sets(session);
  check_sum(comm, world_size);
  CHECK_OK(MPI_Comm_free(&comm));
  close_session(&session);
  check_flags(0, 0);

  /* Again after the last has ended. */
  test_two();
  test_info();

  /* A session from before MPI_Init to after MPI_Finalize. */
  session = open_session();
  comm = comm_of(session, "mpi://WORLD", "around");
  MPI_Init(&argc, &argv);
  check_flags(1, 0);
  check_sum(MPI_COMM_WORLD, world_size);
  check_sum(comm, world_size);
  test_two();
  test_sets(session);
#ifdef MPI_ABI_VERSION
  MPI_Session none = MPI_SESSION_NULL;
  int sets;
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  CHECK_CLASS(MPI_Session_get_num_psets(none, MPI_INFO_NULL, &sets), MPI_ERR_SESSION);
  CHECK_CLASS(MPI_Session_finalize(&none), MPI_ERR_SESSION);
#endif
  MPI_Finalize();
  check_flags(1, 1);
  check_sum(comm, world_size);
  CHECK_OK(MPI_Barrier(comm));
  CHECK_OK(MPI_Comm_free(&comm));
  close_session(&session);

  /* After MPI_Finalize. */
  test_refused();
  test_two();
  if (world_rank == 0) printf("passed with %d ranks\n", world_size);
  return 0;
}
