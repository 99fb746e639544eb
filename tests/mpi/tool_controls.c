/* Control variables of the tools interface (MPI_T): limits, and the choice of a collective's algorithm for one
 * communicator; until MPI_Finalize. */
#include "tool_helpers.h"

/* A hint of files, as it is without info. */
static unsigned long long default_hint(const char* key) {
  char path[64], value[64] = "";
  int flag = 0, length = sizeof value;
  MPI_File file;
  MPI_Info info;
  snprintf(path, sizeof path, "/tmp/tmpi-tools-%ld-%d", (long)getpid(), world_rank);
  CHECK_OK(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                         MPI_INFO_NULL, &file));
  CHECK_OK(MPI_File_get_info(file, &info));
  CHECK_OK(MPI_Info_get_string(info, key, &length, value, &flag));
  CHECK(flag);
  CHECK_OK(MPI_Info_free(&info));
  CHECK_OK(MPI_File_close(&file));
  return strtoull(value, NULL, 10);
}

/* Limits of messages, transports, files, one-sided communication and dynamic processes. */
static void limits(void) {
  static const char* const names[] = {
      "tmpi_limit_shared_copy",        "tmpi_limit_shared_halves", "tmpi_limit_posted_scanned",
      "tmpi_limit_unexpected_scanned", "tmpi_limit_segment",       "tmpi_limit_rma_polls",
      "tmpi_limit_rma_types",          "tmpi_limit_rma_locks",     "tmpi_limit_file_calls",
      "tmpi_limit_file_threads",       "tmpi_limit_file_pieces",   "tmpi_limit_file_sieve_reads",
      "tmpi_limit_file_sieve_writes",  "tmpi_limit_file_holes",    "tmpi_limit_file_run",
      "tmpi_limit_file_access",        "tmpi_limit_file_domain",   "tmpi_limit_spawned",
      "tmpi_limit_spawned_node",       "tmpi_limit_other_jobs",    "tmpi_limit_other_nodes",
      "tmpi_limit_slots_few",          "tmpi_limit_slots_many",    "tmpi_limit_channel_bytes",
      "tmpi_limit_channel_messages",   "tmpi_limit_credit",        "tmpi_limit_turn",
      "tmpi_limit_credit_other_jobs",  "tmpi_limit_eager_adapted", "tmpi_limit_stall",
      "tmpi_limit_announcements",      "tmpi_limit_backlog_bytes", "tmpi_limit_rest_short",
      "tmpi_limit_backlog_messages",   "tmpi_limit_rest_long",     "tmpi_limit_rest_longest"};
  static const char* const transports[] = {"tcp", "verbs", "sim"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) CHECK(number_of(names[i]) > 1);
  for (size_t i = 0; i < sizeof transports / sizeof transports[0]; i++) {
    char name[kText];
    snprintf(name, sizeof name, "tmpi_limit_%s_header", transports[i]);
    CHECK(number_of(name) >= 128);
    snprintf(name, sizeof name, "tmpi_limit_%s_buffered", transports[i]);
    CHECK(number_of(name) >= 16 << 10);
  }
  CHECK(number_of("tmpi_limit_slots_few") < number_of("tmpi_limit_slots_many"));
  CHECK(number_of("tmpi_limit_rest_short") < number_of("tmpi_limit_rest_long"));
  CHECK(number_of("tmpi_limit_tcp_copied") > number_of("tmpi_limit_tcp_buffered"));
  CHECK(number_of("tmpi_limit_sim_least_depth") < number_of("tmpi_limit_sim_most_depth"));
  CHECK(number_of("tmpi_limit_verbs_rails") > 1);
  CHECK_EQ(number_of("tmpi_limit_cb_buffer_size"), default_hint("cb_buffer_size"));
  CHECK_EQ(number_of("tmpi_limit_ind_rd_buffer_size"), default_hint("ind_rd_buffer_size"));
  CHECK_EQ(number_of("tmpi_limit_ind_wr_buffer_size"), default_hint("ind_wr_buffer_size"));
}

static void controls(void) {
  limits();
  CHECK_EQ(number_of("tmpi_job_ranks"), world_size);
  CHECK_EQ(number_of("tmpi_node_ranks"), ranks_sharing_memory());
  CHECK(number_of("tmpi_limit_stack") >= 32 << 10);
  CHECK_EQ(number_of("tmpi_limit_tag"), 0x7ffffffe);
  int index, count;
  char text[kText];
  MPI_T_cvar_handle handle;
  if (MPI_T_cvar_get_index("tmpi_n", &index) == MPI_SUCCESS) { /* started by tmpirun */
    handle = control("tmpi_n", MPI_COMM_NULL, &count);
    CHECK(count <= kText);
    CHECK_OK(MPI_T_cvar_read(handle, text));
    CHECK_EQ(strlen(text) + 1, count);
    CHECK_EQ(atoi(text), world_size);
    CHECK_OK(MPI_T_cvar_handle_free(&handle));
  }
  CHECK_OK(MPI_T_cvar_get_index("tmpi_algorithm_allreduce", &index));
  CHECK_EQ(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_cvar_handle_alloc(-1, NULL, &handle, &count), MPI_T_ERR_INVALID_INDEX);
  handle = MPI_T_CVAR_HANDLE_NULL;
  CHECK_EQ(MPI_T_cvar_read(handle, text), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_cvar_read((MPI_T_cvar_handle)text, text), MPI_T_ERR_INVALID_HANDLE);
  CHECK_EQ(MPI_T_cvar_handle_free(&handle), MPI_T_ERR_INVALID_HANDLE);
}

enum { kAllreduce = 7 }; /* the eighth of the category */
static int last_algorithm = -1;

static void on_algorithm(MPI_T_event_instance instance, MPI_T_event_registration registration,
                         MPI_T_cb_safety safety, void* user_data) {
  CHECK(registration != NULL && user_data == &last_algorithm);
  CHECK_EQ(safety, MPI_T_CB_REQUIRE_MPI_RESTRICTED);
  int ranks = -1, collective = -1;
  CHECK_OK(MPI_T_event_read(instance, 3, &ranks));
  CHECK_OK(MPI_T_event_read(instance, 1, &collective));
  /* Not what it is made of: the members of a node, other collectives. */
  if (ranks != world_size || collective != kAllreduce) return;
  CHECK_OK(MPI_T_event_read(instance, 2, &last_algorithm));
}

static void all_sums(MPI_Comm comm, int elements) {
  int in[300], out[300];
  for (int i = 0; i < elements; i++) in[i] = world_rank + i;
  memset(out, 0, sizeof out);
  CHECK_OK(MPI_Allreduce(in, out, elements, MPI_INT, MPI_SUM, comm));
  for (int i = 0; i < elements; i++) CHECK_EQ(out[i], world_size * (world_size - 1) / 2 + world_size * i);
  MPI_Request request;
  memset(out, 0, sizeof out);
  CHECK_OK(MPI_Iallreduce(in, out, elements, MPI_INT, MPI_SUM, comm, &request));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  for (int i = 0; i < elements; i++) CHECK_EQ(out[i], world_size * (world_size - 1) / 2 + world_size * i);
}

/* Each algorithm in turn, on one communicator: the results stay right, those that work for the call are taken, and no
 * other communicator minds. */
static void algorithms(void) {
  MPI_Comm comm;
  int index, verbosity, bind, scope, number, count, value = -1;
  MPI_Datatype type;
  MPI_T_enum names;
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  CHECK_OK(MPI_T_cvar_get_index("tmpi_algorithm_allreduce", &index));
  CHECK_OK(MPI_T_cvar_get_info(index, NULL, NULL, &verbosity, &type, &names, NULL, NULL, &bind, &scope));
  CHECK(type == MPI_INT && bind == MPI_T_BIND_MPI_COMM && scope == MPI_T_SCOPE_GROUP_EQ);
  MPI_T_cvar_handle handle = control("tmpi_algorithm_allreduce", comm, &count);
  MPI_T_cvar_handle other = control("tmpi_algorithm_allreduce", MPI_COMM_WORLD, &count);
  CHECK_EQ(count, 1);
  CHECK_OK(MPI_T_cvar_read(handle, &value));
  CHECK_EQ(value, 0);
  MPI_T_event_registration events = registration_of("tmpi_algorithm_chosen");
  CHECK_OK(MPI_T_event_register_callback(events, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL,
                                         &last_algorithm, on_algorithm));
  CHECK_OK(MPI_T_enum_get_info(names, &number, NULL, NULL));
  CHECK(number > 3);
  int taken = 0;
  for (int i = 0; i < number; i++) {
    char name[kText];
    int length = kText, item;
    CHECK_OK(MPI_T_enum_get_item(names, i, &item, name, &length));
    CHECK_EQ(item, i);
    CHECK_OK(MPI_T_cvar_write(handle, &i));
    CHECK_OK(MPI_T_cvar_read(handle, &value));
    CHECK_EQ(value, i);
    last_algorithm = -1;
    all_sums(comm, 4);
    CHECK(last_algorithm > 0);
    if (i > 0) taken += last_algorithm == i;
    /* 'doubling' sends messages, and works for everything. */
    if (strcmp(name, "doubling") == 0) CHECK_EQ(last_algorithm, i);
    CHECK_OK(MPI_T_cvar_read(other, &value));
    CHECK_EQ(value, 0);
    MPI_Barrier(comm);
  }
  CHECK(taken >= 2);
  value = number;
  CHECK_EQ(MPI_T_cvar_write(handle, &value), MPI_T_ERR_INVALID);
  CHECK_EQ(MPI_T_enum_get_item(names, number, &value, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
  CHECK_EQ(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &number, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
  CHECK_OK(MPI_T_event_handle_free(events, NULL, NULL));
  if (world_size > 1) { /* not while one is under way */
    MPI_Request request = MPI_REQUEST_NULL;
    value = 0;
    if (world_rank == 0) {
      CHECK_OK(MPI_Ibarrier(comm, &request));
      CHECK_EQ(MPI_T_cvar_write(handle, &value), MPI_T_ERR_CVAR_SET_NOT_NOW);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank > 0) CHECK_OK(MPI_Ibarrier(comm, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  }
  /* A handle outlives its communicator. */
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_OK(MPI_T_cvar_read(handle, &value));
  CHECK_OK(MPI_T_cvar_handle_free(&handle));
  CHECK_OK(MPI_T_cvar_handle_free(&other));
}

/* Every collective has a choice, which can be set to each of its algorithms; calls of all of them then still work. */
static void every_algorithm(void) {
  int category, cvars, list[64], most = 0;
  CHECK_OK(MPI_T_category_get_index("tmpi_algorithms", &category));
  CHECK_OK(MPI_T_category_get_info(category, NULL, NULL, NULL, NULL, &cvars, NULL, NULL));
  CHECK_EQ(cvars, 13);
  CHECK_OK(MPI_T_category_get_cvars(category, cvars, list));
  MPI_Comm comm;
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  for (int round = 0; round == 0 || round < most; round++) {
    MPI_T_cvar_handle handles[13];
    for (int i = 0; i < cvars; i++) {
      int count, number, value = -1;
      MPI_T_enum names;
      CHECK_OK(MPI_T_cvar_get_info(list[i], NULL, NULL, NULL, NULL, &names, NULL, NULL, NULL, NULL));
      CHECK_OK(MPI_T_enum_get_info(names, &number, NULL, NULL));
      CHECK(number >= 2);
      most = number > most ? number : most;
      const int wanted = round % number;
      CHECK_OK(MPI_T_cvar_handle_alloc(list[i], &comm, &handles[i], &count));
      CHECK_OK(MPI_T_cvar_write(handles[i], &wanted));
      CHECK_OK(MPI_T_cvar_read(handles[i], &value));
      CHECK_EQ(value, wanted);
    }
    const int mine = world_rank + 1, sum = world_size * (world_size + 1) / 2;
    int one = round, all[64], got[64], back = 0;
    CHECK_OK(MPI_Barrier(comm));
    CHECK_OK(MPI_Bcast(&one, 1, MPI_INT, 0, comm));
    CHECK_EQ(one, round);
    CHECK_OK(MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, 0, comm));
    CHECK_OK(MPI_Scatter(all, 1, MPI_INT, &back, 1, MPI_INT, 0, comm));
    CHECK_EQ(back, mine);
    CHECK_OK(MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, comm));
    CHECK_OK(MPI_Alltoall(all, 1, MPI_INT, got, 1, MPI_INT, comm));
    for (int i = 0; i < world_size; i++) CHECK(all[i] == i + 1 && got[i] == mine);
    CHECK_OK(MPI_Reduce(&mine, &back, 1, MPI_INT, MPI_SUM, 0, comm));
    if (world_rank == 0) CHECK_EQ(back, sum);
    CHECK_OK(MPI_Allreduce(&mine, &back, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(back, sum);
    CHECK_OK(MPI_Reduce_scatter_block(all, &back, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(back, world_size * mine);
    CHECK_OK(MPI_Scan(&mine, &back, 1, MPI_INT, MPI_SUM, comm));
    CHECK_EQ(back, mine * (mine + 1) / 2);
    for (int i = 0; i < cvars; i++) CHECK_OK(MPI_T_cvar_handle_free(&handles[i]));
  }
  CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char** argv) {
  int provided, count, value;
  CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
  check_begin(&argc, &argv);
  controls();
  algorithms();
  every_algorithm();
  MPI_T_cvar_handle lost = control("tmpi_algorithm_bcast", MPI_COMM_WORLD, &count);
  check_end();
  CHECK_EQ(MPI_T_cvar_read(lost, &value), MPI_T_ERR_NOT_ACCESSIBLE);
  CHECK_EQ(MPI_T_cvar_write(lost, &value), MPI_T_ERR_CVAR_SET_NOT_NOW);
  CHECK_OK(MPI_T_finalize());
  return 0;
}
