/* The tools interface (MPI_T): initialization and its counting, strings, sessions and handles of performance
 * variables, enumerations, categories, threads; also before MPI_Init and after MPI_Finalize. With every MPI what the
 * standard says; names and figures are tmpi's. */
#include <pthread.h>

#include "tool_helpers.h"

/* ---- What every MPI has */

static void strings_and_indices(void) {
  int number;
  CHECK_OK(MPI_T_pvar_get_num(&number));
  for (int i = 0; i < number; i++) {
    char name[kText], desc[kText];
    int name_len = kText, desc_len = kText, verbosity, class, bind, readonly, continuous, atomic, index = -1;
    MPI_Datatype type;
    MPI_T_enum names;
    CHECK_OK(MPI_T_pvar_get_info(i, name, &name_len, &verbosity, &class, &type, &names, desc, &desc_len,
                                 &bind, &readonly, &continuous, &atomic));
    CHECK_EQ(name_len, strlen(name) + 1);
    CHECK(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL);
    CHECK_OK(MPI_T_pvar_get_index(name, class, &index));
    CHECK_EQ(index, i);
#ifdef MPI_ABI_VERSION
    /* The length alone; what fits; nothing. Others mind null pointers. */
    int length = 0;
    CHECK_OK(
        MPI_T_pvar_get_info(i, NULL, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK_EQ(length, strlen(name) + 1);
    char cut[8];
    length = sizeof cut;
    memset(cut, 'x', sizeof cut);
    CHECK_OK(
        MPI_T_pvar_get_info(i, cut, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK(strlen(cut) == sizeof cut - 1 && strncmp(cut, name, strlen(cut)) == 0);
    CHECK_EQ(length, strlen(name) + 1);
    CHECK_OK(MPI_T_pvar_get_info(i, name, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
#endif
  }
  int index;
  CHECK_EQ(MPI_T_pvar_get_index("there is none of this name", MPI_T_PVAR_CLASS_COUNTER, &index),
           MPI_T_ERR_INVALID_NAME);
  CHECK_EQ(MPI_T_cvar_get_index("there is none of this name", &index), MPI_T_ERR_INVALID_NAME);
  CHECK_EQ(MPI_T_category_get_index("there is none of this name", &index), MPI_T_ERR_INVALID_NAME);
#ifdef MPI_ABI_VERSION
  CHECK_EQ(
      MPI_T_pvar_get_info(number, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
      MPI_T_ERR_INVALID_INDEX);
#endif
  CHECK_OK(MPI_T_cvar_get_num(&number));
  for (int i = 0; i < number; i++) {
    char name[kText], desc[kText];
    int name_len = kText, desc_len = kText, verbosity, bind, scope;
    MPI_Datatype type;
    MPI_T_enum names;
    CHECK_OK(
        MPI_T_cvar_get_info(i, name, &name_len, &verbosity, &type, &names, desc, &desc_len, &bind, &scope));
    CHECK_OK(MPI_T_cvar_get_index(name, &index));
    CHECK_EQ(index, i);
    CHECK(scope >= MPI_T_SCOPE_CONSTANT && scope <= MPI_T_SCOPE_ALL_EQ);
  }
#ifdef MPI_ABI_VERSION
  CHECK_EQ(MPI_T_cvar_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
           MPI_T_ERR_INVALID_INDEX);
#endif
}

#ifdef MPI_ABI_VERSION
static void every_event_in_one_category(int categories) {
  int events, of_messages, seen[64] = {0};
  CHECK_OK(MPI_T_event_get_num(&events));
  CHECK(events > 0 && events < 64);
  for (int i = 0; i < categories; i++) {
    int number = -1, list[64];
    CHECK_OK(MPI_T_category_get_num_events(i, &number));
    CHECK(number >= 0 && number <= events);
    memset(list, -1, sizeof list);
    CHECK_OK(MPI_T_category_get_events(i, number, list));
    CHECK_EQ(list[number], -1); /* no more than asked for */
    for (int k = 0; k < number; k++) {
      CHECK(list[k] >= 0 && list[k] < events);
      seen[list[k]]++;
    }
    if (number > 1) { /* and fewer, if fewer are */
      memset(list, -1, sizeof list);
      CHECK_OK(MPI_T_category_get_events(i, 1, list));
      CHECK(list[0] >= 0 && list[1] == -1);
    }
  }
  for (int i = 0; i < events; i++) CHECK_EQ(seen[i], 1);
  int list[4], sent, received;
  CHECK_OK(MPI_T_category_get_index("tmpi_messages", &of_messages));
  CHECK_OK(MPI_T_category_get_events(of_messages, 4, list));
  CHECK_OK(MPI_T_event_get_index("tmpi_message_sent", &sent));
  CHECK_OK(MPI_T_event_get_index("tmpi_message_received", &received));
  CHECK((list[0] == sent && list[1] == received) || (list[0] == received && list[1] == sent));
  CHECK_EQ(MPI_T_category_get_events(categories, 4, list), MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_category_get_events(-1, 4, list), MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_category_get_num_events(categories, &sent), MPI_T_ERR_INVALID_INDEX);
}
#endif

static void every_category(void) {
  int number, stamp, again, cvars_seen = 0, pvars_seen = 0;
  CHECK_OK(MPI_T_category_changed(&stamp));
  CHECK_OK(MPI_T_category_get_num(&number));
  for (int i = 0; i < number; i++) {
    char name[kText], desc[kText];
    int name_len = kText, desc_len = kText, cvars, pvars, categories, index;
    CHECK_OK(MPI_T_category_get_info(i, name, &name_len, desc, &desc_len, &cvars, &pvars, &categories));
    CHECK_OK(MPI_T_category_get_index(name, &index));
    CHECK_EQ(index, i);
    int* const list = check_malloc(sizeof(int) * (size_t)(cvars + pvars + categories + 1));
    CHECK_OK(MPI_T_category_get_cvars(i, cvars, list));
    CHECK_OK(MPI_T_category_get_pvars(i, pvars, list));
    CHECK_OK(MPI_T_category_get_categories(i, categories, list));
    for (int c = 0; c < categories; c++) CHECK(list[c] >= 0 && list[c] < number && list[c] != i);
    cvars_seen += cvars;
    pvars_seen += pvars;
    free(list);
  }
#ifdef MPI_ABI_VERSION
  every_event_in_one_category(number);
  int cvars, pvars, indices[2] = {-1, -1};
  CHECK_OK(MPI_T_cvar_get_num(&cvars));
  CHECK_OK(MPI_T_pvar_get_num(&pvars));
  CHECK_EQ(cvars_seen, cvars); /* each is in one */
  CHECK_EQ(pvars_seen, pvars);
  CHECK_OK(MPI_T_category_get_index("tmpi_messages", &number));
  CHECK_OK(MPI_T_category_get_pvars(number, 1, indices));
  CHECK(indices[0] >= 0 && indices[1] == -1);
  CHECK_OK(MPI_T_category_get_num_events(number, &number));
  CHECK_EQ(number, 2);
  CHECK_EQ(MPI_T_category_get_cvars(99, 0, NULL), MPI_T_ERR_INVALID_INDEX);
#endif
  CHECK_OK(MPI_T_category_changed(&again));
  CHECK_EQ(again, stamp);
  (void)cvars_seen, (void)pvars_seen;
}

static void sessions(void) {
  MPI_T_pvar_session session, none = MPI_T_PVAR_SESSION_NULL;
  CHECK_OK(MPI_T_pvar_session_create(&session));
  CHECK(session != MPI_T_PVAR_SESSION_NULL);
  CHECK_OK(MPI_T_pvar_session_free(&session));
  CHECK(session == MPI_T_PVAR_SESSION_NULL);
  CHECK_EQ(MPI_T_pvar_session_free(&none), MPI_T_ERR_INVALID_SESSION);
}

#ifdef MPI_ABI_VERSION

/* ---- tmpi's performance variables */

static MPI_T_pvar_handle variable(MPI_T_pvar_session session, const char* name, int class, MPI_Comm comm,
                                  int* count) {
  int index;
  MPI_T_pvar_handle handle;
  CHECK_OK(MPI_T_pvar_get_index(name, class, &index));
  CHECK_OK(MPI_T_pvar_handle_alloc(session, index, &comm, &handle, count));
  return handle;
}

static unsigned long long value_of(MPI_T_pvar_session session, MPI_T_pvar_handle handle) {
  unsigned long long value = 0;
  CHECK_OK(MPI_T_pvar_read(session, handle, &value));
  return value;
}

/* Everything that comes later in the order of a rank's messages has been counted when a message that it waits for is. */
static void messages(void) {
  MPI_T_pvar_session one, two;
  int count;
  CHECK_OK(MPI_T_pvar_session_create(&one));
  CHECK_OK(MPI_T_pvar_session_create(&two));
  MPI_T_pvar_handle sent =
      variable(one, "tmpi_messages_sent", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL, &count);
  CHECK_EQ(count, 1);
  MPI_T_pvar_handle bytes =
      variable(one, "tmpi_bytes_sent", MPI_T_PVAR_CLASS_AGGREGATE, MPI_COMM_NULL, &count);
  MPI_T_pvar_handle received =
      variable(one, "tmpi_messages_received", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL, &count);
  MPI_T_pvar_handle again =
      variable(two, "tmpi_messages_sent", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL, &count);
  MPI_T_pvar_handle ways[3];
  static const char* const names[3] = {"tmpi_sent_direct", "tmpi_sent_eager", "tmpi_sent_rendezvous"};
  for (int i = 0; i < 3; i++)
    ways[i] = variable(two, names[i], MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL, &count);
  ring(MPI_COMM_WORLD, 2, 10); /* nobody counts */
  CHECK_EQ(value_of(one, sent), 0);
  CHECK_OK(MPI_T_pvar_start(one, MPI_T_PVAR_ALL_HANDLES));
  ring(MPI_COMM_WORLD, 3, 10);
  CHECK_EQ(value_of(one, sent), 3);
  CHECK_EQ(value_of(one, bytes), 30);
  CHECK_EQ(value_of(one, received), 3);
  CHECK_EQ(value_of(two, again), 0);
  CHECK_OK(MPI_T_pvar_start(two, MPI_T_PVAR_ALL_HANDLES));
  CHECK_OK(MPI_T_pvar_start(two, again)); /* it has been */
  ring(MPI_COMM_WORLD, 4, 100000);
  CHECK_OK(MPI_T_pvar_stop(one, sent));
  ring(MPI_COMM_WORLD, 1, 10);
  CHECK_EQ(value_of(one, sent), 7);
  CHECK_EQ(value_of(one, bytes), 400040);
  CHECK_EQ(value_of(two, again), 5);
  unsigned long long by_way = 0;
  for (int i = 0; i < 3; i++) by_way += value_of(two, ways[i]);
  CHECK_EQ(by_way, 5);
  CHECK_OK(MPI_T_pvar_reset(two, again));
  CHECK_EQ(value_of(two, again), 0);
  CHECK_OK(MPI_T_pvar_start(one, sent));
  ring(MPI_COMM_WORLD, 2, 10);
  unsigned long long value = 0;
  CHECK_OK(MPI_T_pvar_readreset(one, sent, &value));
  CHECK_EQ(value, 9);
  ring(MPI_COMM_WORLD, 1, 10);
  CHECK_EQ(value_of(one, sent), 1);
  value = 100;
  CHECK_OK(MPI_T_pvar_write(one, sent, &value));
  ring(MPI_COMM_WORLD, 1, 10);
  CHECK_EQ(value_of(one, sent), 101);
  CHECK_EQ(value_of(two, again), 4);
  /* Handles are those of their session. */
  CHECK_EQ(MPI_T_pvar_read(two, sent, &value), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_pvar_read(one, MPI_T_PVAR_ALL_HANDLES, &value), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_pvar_read(one, MPI_T_PVAR_HANDLE_NULL, &value), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_pvar_start(MPI_T_PVAR_SESSION_NULL, sent), MPI_T_ERR_INVALID_SESSION);
  CHECK_OK(MPI_T_pvar_handle_free(one, &sent));
  CHECK(sent == MPI_T_PVAR_HANDLE_NULL);
  CHECK_EQ(MPI_T_pvar_handle_free(one, &sent), MPI_T_ERR_INVALID_HANDLE);
  CHECK_OK(MPI_T_pvar_session_free(&one));
  CHECK_OK(MPI_T_pvar_session_free(&two)); /* with its handles */
}

static void peers(void) {
  MPI_Comm comm;
  MPI_T_pvar_session session;
  int count;
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  CHECK_OK(MPI_T_pvar_session_create(&session));
  MPI_T_pvar_handle sent =
      variable(session, "tmpi_comm_messages_sent", MPI_T_PVAR_CLASS_COUNTER, comm, &count);
  CHECK_EQ(count, world_size);
  MPI_T_pvar_handle bytes =
      variable(session, "tmpi_comm_bytes_received", MPI_T_PVAR_CLASS_AGGREGATE, comm, &count);
  CHECK_OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
  ring(MPI_COMM_WORLD, 5, 8); /* another communicator */
  ring(comm, 2, 50);
  unsigned long long* const values = check_malloc(sizeof *values * (size_t)world_size);
  CHECK_OK(MPI_T_pvar_read(session, sent, values));
  for (int i = 0; i < world_size; i++) CHECK_EQ(values[i], i == (world_rank + 1) % world_size ? 2 : 0);
  CHECK_OK(MPI_T_pvar_read(session, bytes, values));
  for (int i = 0; i < world_size; i++) CHECK_EQ(values[i], (i + 1) % world_size == world_rank ? 100 : 0);
  free(values);
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_OK(MPI_T_pvar_session_free(&session));
}

static void queues(void) {
  MPI_T_pvar_session session;
  int count, flag = 0;
  unsigned long long value;
  CHECK_OK(MPI_T_pvar_session_create(&session));
  MPI_T_pvar_handle level =
      variable(session, "tmpi_unexpected_messages", MPI_T_PVAR_CLASS_LEVEL, MPI_COMM_NULL, &count);
  MPI_T_pvar_handle posted =
      variable(session, "tmpi_posted_receives", MPI_T_PVAR_CLASS_LEVEL, MPI_COMM_NULL, &count);
  MPI_T_pvar_handle most =
      variable(session, "tmpi_unexpected_most", MPI_T_PVAR_CLASS_HIGHWATERMARK, MPI_COMM_NULL, &count);
  MPI_T_pvar_handle early =
      variable(session, "tmpi_messages_unexpected", MPI_T_PVAR_CLASS_COUNTER, MPI_COMM_NULL, &count);
  CHECK_EQ(MPI_T_pvar_start(session, level), MPI_T_ERR_PVAR_NO_STARTSTOP);
  CHECK_EQ(MPI_T_pvar_stop(session, level), MPI_T_ERR_PVAR_NO_STARTSTOP);
  CHECK_EQ(MPI_T_pvar_reset(session, level), MPI_T_ERR_PVAR_NO_WRITE);
  CHECK_EQ(MPI_T_pvar_write(session, level, &value), MPI_T_ERR_PVAR_NO_WRITE);
  CHECK_EQ(MPI_T_pvar_readreset(session, level, &value), MPI_T_ERR_PVAR_NO_ATOMIC);
  CHECK_OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
  /* Five to myself, which nobody has asked for. */
  int out = 3, in[5];
  for (int i = 0; i < 5; i++) CHECK_OK(MPI_Send(&out, 1, MPI_INT, world_rank, 50 + i, MPI_COMM_WORLD));
  while (!flag) CHECK_OK(MPI_Iprobe(world_rank, 54, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
  CHECK(value_of(session, level) >= 5);
  CHECK(value_of(session, most) >= 5);
  CHECK(value_of(session, early) >= 5);
  for (int i = 0; i < 5; i++) {
    CHECK_OK(MPI_Recv(&in[i], 1, MPI_INT, world_rank, 50 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  }
  CHECK(value_of(session, most) >= 5);
  MPI_Request request;
  CHECK_OK(MPI_Irecv(in, 1, MPI_INT, world_rank, 60, MPI_COMM_WORLD, &request));
  CHECK(value_of(session, posted) >= 1);
  CHECK_OK(MPI_Send(&out, 1, MPI_INT, world_rank, 60, MPI_COMM_WORLD));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  /* A mark that another handle lets begin anew keeps what it has shown. */
  MPI_T_pvar_handle later =
      variable(session, "tmpi_unexpected_most", MPI_T_PVAR_CLASS_HIGHWATERMARK, MPI_COMM_NULL, &count);
  CHECK_OK(MPI_T_pvar_start(session, later));
  CHECK(value_of(session, later) < 5);
  CHECK(value_of(session, most) >= 5);
  CHECK_OK(MPI_T_pvar_session_free(&session));
}

static void time_and_memory(void) {
  MPI_T_pvar_session session;
  int count, cores;
  CHECK_OK(MPI_T_pvar_session_create(&session));
  MPI_T_pvar_handle running =
      variable(session, "tmpi_time_running", MPI_T_PVAR_CLASS_TIMER, MPI_COMM_NULL, &count);
  MPI_T_pvar_handle waiting =
      variable(session, "tmpi_time_waiting", MPI_T_PVAR_CLASS_TIMER, MPI_COMM_NULL, &count);
  MPI_T_pvar_handle busy = variable(session, "tmpi_core_busy", MPI_T_PVAR_CLASS_TIMER, MPI_COMM_NULL, &cores);
  MPI_T_pvar_handle idle = variable(session, "tmpi_core_idle", MPI_T_PVAR_CLASS_TIMER, MPI_COMM_NULL, &count);
  CHECK_EQ(cores, number_of("tmpi_node_workers"));
  CHECK_EQ(count, cores);
  const double before = MPI_Wtime();
  CHECK_OK(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
  for (int i = 0; i < 20; i++) MPI_Barrier(MPI_COMM_WORLD);
  while (MPI_Wtime() - before < 0.002) {
  }
  CHECK_OK(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES));
  const double elapsed = MPI_Wtime() - before;
  double ran = 0, waited = 0, *of_cores = check_malloc(sizeof(double) * 2 * (size_t)cores);
  CHECK_OK(MPI_T_pvar_read(session, running, &ran));
  CHECK_OK(MPI_T_pvar_read(session, waiting, &waited));
  if (ran <= 0 || ran + waited > elapsed * 1.01 + 1e-5 || ran + waited < 0.0003) /* the rest: ready */
    check_failed(__FILE__, __LINE__, "ran %g, waited %g of %g seconds", ran, waited, elapsed);
  CHECK_OK(MPI_T_pvar_read(session, busy, of_cores));
  CHECK_OK(MPI_T_pvar_read(session, idle, of_cores + cores));
  for (int i = 0; i < cores; i++) {
    const double sum = of_cores[i] + of_cores[cores + i];
    if (sum < 0.0015 || sum > elapsed * 1.01 + 1e-5)
      check_failed(__FILE__, __LINE__, "core %d: busy %g, idle %g of %g seconds", i, of_cores[i],
                   of_cores[cores + i], elapsed);
  }
  free(of_cores);
  MPI_T_pvar_handle size = variable(session, "tmpi_stack_size", MPI_T_PVAR_CLASS_SIZE, MPI_COMM_NULL, &count);
  MPI_T_pvar_handle used =
      variable(session, "tmpi_stack_used", MPI_T_PVAR_CLASS_HIGHWATERMARK, MPI_COMM_NULL, &count);
  CHECK_EQ(value_of(session, size), number_of("tmpi_limit_stack"));
  CHECK(value_of(session, used) <= value_of(session, size));
  MPI_T_pvar_handle state =
      variable(session, "tmpi_rank_state", MPI_T_PVAR_CLASS_STATE, MPI_COMM_NULL, &count);
  CHECK_EQ(count, ranks_sharing_memory());
  int states[1024], index, running_ranks = 0, verbosity;
  MPI_T_enum names;
  CHECK_OK(MPI_T_pvar_read(session, state, states));
  CHECK_OK(MPI_T_pvar_get_index("tmpi_rank_state", MPI_T_PVAR_CLASS_STATE, &index));
  CHECK_OK(MPI_T_pvar_get_info(index, NULL, NULL, &verbosity, NULL, NULL, &names, NULL, NULL, NULL, NULL,
                               NULL, NULL));
  for (int i = 0; i < count; i++) {
    char name[kText];
    int item, length = kText;
    CHECK_OK(MPI_T_enum_get_item(names, states[i], &item, name, &length));
    running_ranks += strcmp(name, "running") == 0;
  }
  CHECK(running_ranks >= 1);
  CHECK_OK(MPI_T_pvar_session_free(&session));
}

/* ---- Threads */

static void* read_in_thread(void* argument) {
  unsigned long long value = 0;
  MPI_T_pvar_session session;
  int count, *const ok = argument;
  CHECK_OK(MPI_T_pvar_session_create(&session));
  MPI_T_pvar_handle size = variable(session, "tmpi_stack_size", MPI_T_PVAR_CLASS_SIZE, MPI_COMM_NULL, &count);
  CHECK_OK(MPI_T_pvar_read(session, size, &value));
  CHECK_OK(MPI_T_pvar_session_free(&session));
  *ok = value > 0;
  return NULL;
}

/* Binds variables to the communicator and sets algorithms, while its rank sends. */
static void* choose_in_thread(void* stop) {
  do {
    int count, value = 0;
    MPI_T_cvar_handle handle = control("tmpi_algorithm_bcast", MPI_COMM_SELF, &count);
    CHECK_OK(MPI_T_cvar_read(handle, &value));
    CHECK_OK(MPI_T_cvar_write(handle, &value));
    CHECK_OK(MPI_T_cvar_handle_free(&handle));
  } while (!__atomic_load_n((int*)stop, __ATOMIC_RELAXED));
  return NULL;
}

static void threads(void) {
  pthread_t thread;
  int ok = 0, stop = 0, provided = -1;
  CHECK_EQ(pthread_create(&thread, NULL, read_in_thread, &ok), 0);
  pthread_join(thread, NULL);
  CHECK(ok);
  CHECK_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
  CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
  CHECK_EQ(pthread_create(&thread, NULL, choose_in_thread, &stop), 0);
  for (int i = 0; i < 200; i++) {
    MPI_Request request;
    CHECK_OK(MPI_Irecv(&ok, 1, MPI_INT, 0, kTag, MPI_COMM_SELF, &request));
    CHECK_OK(MPI_Send(&i, 1, MPI_INT, 0, kTag, MPI_COMM_SELF));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Bcast(&ok, 1, MPI_INT, 0, MPI_COMM_SELF));
    CHECK_EQ(ok, i);
  }
  __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
  pthread_join(thread, NULL);
  CHECK_OK(MPI_T_finalize());
}

#endif

int main(int argc, char** argv) {
  int provided = -1, number;
  CHECK_EQ(MPI_T_pvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
  CHECK_EQ(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
  CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
  CHECK(provided >= MPI_THREAD_SINGLE && provided <= MPI_THREAD_MULTIPLE);
  CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
  CHECK_OK(MPI_T_finalize());
  strings_and_indices();
  every_category();
  sessions();
  check_begin(&argc, &argv);
  strings_and_indices();
  every_category();
#ifdef MPI_ABI_VERSION
  CHECK_EQ(provided, MPI_THREAD_FUNNELED);
  messages();
  peers();
  queues();
  time_and_memory();
  threads();
#endif
  check_end();
  every_category();
  CHECK_OK(MPI_T_finalize());
  CHECK_EQ(MPI_T_pvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED);
  CHECK_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided)); /* and again */
  CHECK_OK(MPI_T_finalize());
  return 0;
}
