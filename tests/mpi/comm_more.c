/* Making communicators: nonblocking and with hints, of groups alone, by resources; what is cached on them and
 * goes with a duplicate. MPI report, 7.4.2 to 7.4.4, 7.7. */
#include "check.h"

static int sum_over(MPI_Comm comm, int value) {
  int sum = -1;
  CHECK_OK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm));
  return sum;
}

static void compare(MPI_Comm a, MPI_Comm b, int want) {
  int result = -1;
  CHECK_OK(MPI_Comm_compare(a, b, &result));
  CHECK_EQ(result, want);
}

/* Rank 0 goes on while the others have not come; two at a time, and collectives in between. */
static void test_idup(void) {
  MPI_Comm one, two;
  MPI_Request requests[2];
  int flag = 0, token = 7;
  if (world_rank == 0) {
    CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, &one, &requests[0]));
    CHECK_OK(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
    CHECK_EQ(flag, world_size == 1);
    for (int r = 1; r < world_size; r++) CHECK_OK(MPI_Send(&token, 1, MPI_INT, r, 1, MPI_COMM_WORLD));
  } else {
    CHECK_OK(MPI_Recv(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, &one, &requests[0]));
  }
  CHECK_OK(MPI_Comm_idup_with_info(MPI_COMM_WORLD, MPI_INFO_NULL, &two, &requests[1]));
  CHECK_EQ(sum_over(MPI_COMM_WORLD, 1), world_size);
  if (world_rank % 2 == 0) CHECK_OK(MPI_Wait(&requests[1], MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  compare(one, MPI_COMM_WORLD, MPI_CONGRUENT);
  compare(one, two, MPI_CONGRUENT);
  CHECK_EQ(sum_over(one, 1), world_size);
  int got = -1, right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  CHECK_OK(
      MPI_Sendrecv(&world_rank, 1, MPI_INT, right, 0, &got, 1, MPI_INT, left, 0, two, MPI_STATUS_IGNORE));
  CHECK_EQ(got, left);
  CHECK_OK(MPI_Comm_free(&one));
  CHECK_OK(MPI_Comm_free(&two));
  for (int i = 0; i < 50; i++) { /* each parent of the next */
    CHECK_OK(MPI_Comm_idup(i == 0 ? MPI_COMM_WORLD : one, &two, &requests[0]));
    CHECK_OK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
    if (i > 0) CHECK_OK(MPI_Comm_free(&one));
    one = two;
  }
  CHECK_EQ(sum_over(one, 2), 2 * world_size);
  CHECK_OK(MPI_Comm_free(&one));
}

static void check_hint(MPI_Comm comm, const char* key, const char* want);

#ifdef MPI_ABI_VERSION
static int handled;
static void count_errors(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++handled;
}
#endif

/* What is set of a communicator that is under way is in force when it is there; it may even be freed before. */
static void test_setting_early(void) {
#ifdef MPI_ABI_VERSION
  MPI_Comm comm = MPI_COMM_NULL, gone = MPI_COMM_NULL;
  MPI_Request requests[2];
  MPI_Errhandler handler;
  MPI_Info info;
  char name[MPI_MAX_OBJECT_NAME];
  int token = 1, length = 0, flag = 1;
  if (world_rank != 0) CHECK_OK(MPI_Recv(&token, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, &comm, &requests[0]));
  CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, &gone, &requests[1]));
  CHECK_OK(MPI_Comm_create_errhandler(count_errors, &handler));
  CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Comm_set_errhandler(comm, handler));
  CHECK_OK(MPI_Errhandler_free(&handler));
  CHECK_OK(MPI_Comm_set_name(comm, "early"));
  CHECK_OK(MPI_Info_create(&info));
  CHECK_OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
  CHECK_OK(MPI_Comm_set_info(comm, info));
  CHECK_OK(MPI_Info_free(&info));
  CHECK_OK(MPI_Comm_free(&gone));
  CHECK(gone == MPI_COMM_NULL);
  if (world_rank == 0 && world_size > 1) { /* the others have not come: nothing else is possible */
    CHECK_OK(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
    CHECK(!flag);
  }
  if (world_rank == 0)
    for (int r = 1; r < world_size; r++) CHECK_OK(MPI_Send(&token, 1, MPI_INT, r, 3, MPI_COMM_WORLD));
  CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  CHECK_EQ(sum_over(comm, 1), world_size);
  CHECK_OK(MPI_Comm_get_name(comm, name, &length));
  CHECK(strcmp(name, "early") == 0);
  check_hint(comm, "mpi_assert_no_any_tag", "true");
  handled = 0;
  MPI_Send(&token, 1, MPI_INT, world_size, 0, comm); /* no such rank */
  CHECK_EQ(handled, 1);
  CHECK_OK(MPI_Comm_free(&comm));
#endif
}

static void check_hint(MPI_Comm comm, const char* key, const char* want) {
  MPI_Info info;
  char value[MPI_MAX_INFO_VAL + 1] = "";
  int flag = 0, length = sizeof value;
  CHECK_OK(MPI_Comm_get_info(comm, &info));
  CHECK_OK(MPI_Info_get_string(info, key, &length, value, &flag));
  CHECK_EQ(flag, want != NULL);
  if (want != NULL) CHECK_STRING(value, want);
  CHECK_OK(MPI_Info_free(&info));
}

static void test_hints(void) {
#ifdef MPI_ABI_VERSION
  MPI_Info info;
  MPI_Comm comm, dup, other;
  MPI_Request request;
  CHECK_OK(MPI_Info_create(&info));
  CHECK_OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "true"));
  CHECK_OK(MPI_Info_set(info, "mpi_assert_exact_length", "perhaps"));
  CHECK_OK(MPI_Info_set(info, "unknown_to_all", "true"));
  CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm));
  check_hint(comm, "mpi_assert_no_any_tag", "true");
  check_hint(comm, "mpi_assert_exact_length", "false");
  check_hint(comm, "unknown_to_all", NULL);
#ifdef MPIX_HAVE_BALANCE
  check_hint(comm, "mpix_balance_step", "true");
#endif
  check_hint(MPI_COMM_WORLD, "mpi_assert_no_any_tag", "false");
  CHECK_OK(MPI_Comm_dup(comm, &dup)); /* hints go with a dup, unless others are given */
  check_hint(dup, "mpi_assert_no_any_tag", "true");
  CHECK_OK(MPI_Comm_idup_with_info(comm, MPI_INFO_NULL, &other, &request));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  check_hint(other, "mpi_assert_no_any_tag", "false");
  CHECK_OK(MPI_Info_set(info, "mpi_assert_no_any_tag", "false"));
  CHECK_OK(MPI_Comm_set_info(dup, info));
  check_hint(dup, "mpi_assert_no_any_tag", "false");
  check_hint(comm, "mpi_assert_no_any_tag", "true");
  CHECK_OK(MPI_Comm_free(&dup));
  CHECK_OK(MPI_Comm_free(&other));
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_OK(MPI_Info_free(&info));
#endif
}

static int copies, deletes;
static int copy_fn(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)key;
  copies++;
  if (extra != NULL && world_rank == 0) return MPI_ERR_OTHER; /* one rank fails */
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}
static int delete_fn(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  deletes++;
  return MPI_SUCCESS;
}

static void test_attributes(void) {
  int good, bad, flag = 0, here;
  void* value = NULL;
  MPI_Comm comm, dup = MPI_COMM_NULL;
  MPI_Request request;
  CHECK_OK(MPI_Comm_create_keyval(copy_fn, delete_fn, &good, NULL));
  CHECK_OK(MPI_Comm_create_keyval(copy_fn, delete_fn, &bad, &here));
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  CHECK_OK(MPI_Comm_set_attr(comm, good, &here));
  CHECK_OK(MPI_Comm_dup(comm, &dup));
  CHECK_OK(MPI_Comm_get_attr(dup, good, &value, &flag));
  CHECK(flag && value == (void*)&here);
  CHECK_EQ(copies, 1);
  CHECK_OK(MPI_Comm_free(&dup));
  CHECK_EQ(deletes, 1);
  CHECK_OK(MPI_Comm_idup(comm, &dup, &request));
  CHECK_EQ(copies, 2); /* at the call */
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Comm_get_attr(dup, good, &value, &flag));
  CHECK(flag);
  CHECK_OK(MPI_Comm_free(&dup));
  CHECK_OK(MPI_Comm_split(comm, 0, 0, &dup)); /* nothing is cached on other kinds of children */
  CHECK_OK(MPI_Comm_get_attr(dup, good, &value, &flag));
  CHECK(!flag);
  CHECK_OK(MPI_Comm_free(&dup));
#ifdef MPI_ABI_VERSION
  /* A copy callback that fails at one rank: that rank's call fails, what was copied is deleted. */
  CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Comm_set_attr(comm, bad, &here));
  copies = deletes = 0;
  CHECK_EQ(MPI_Comm_dup(comm, &dup), world_rank == 0 ? MPI_ERR_OTHER : MPI_SUCCESS);
  CHECK_EQ(copies, 2);
  CHECK_EQ(deletes, world_rank == 0);
  CHECK_EQ(dup == MPI_COMM_NULL, world_rank == 0);
  if (dup != MPI_COMM_NULL) CHECK_OK(MPI_Comm_free(&dup));
  CHECK_EQ(MPI_Comm_idup(comm, &dup, &request), world_rank == 0 ? MPI_ERR_OTHER : MPI_SUCCESS);
  if (world_rank != 0) {
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_free(&dup));
  }
#endif
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_OK(MPI_Comm_free_keyval(&good));
  CHECK_OK(MPI_Comm_free_keyval(&bad));
}

/* Only the members of a group come; several groups and tags at a time. */
static void test_groups(void) {
  MPI_Group world, group;
  MPI_Comm comm, again;
  int odd = world_rank % 2, range[1][3] = {{odd, world_size - 1, 2}}, rank = -1;
  CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  CHECK_OK(MPI_Group_range_incl(world, 1, range, &group));
  CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, 5, &comm));
  CHECK_OK(MPI_Comm_create_group(comm, group, 5, &again));
  compare(comm, again, MPI_CONGRUENT);
  CHECK_OK(MPI_Comm_rank(comm, &rank));
  CHECK_EQ(rank, world_rank / 2);
  CHECK_EQ(sum_over(comm, 1), (world_size + 1 - odd) / 2);
  CHECK_OK(MPI_Comm_free(&again));
  CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, MPI_GROUP_EMPTY, 5, &again));
  CHECK(again == MPI_COMM_NULL);
  if (odd == 0) { /* the others stay away */
    CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, group, 6, &again));
    CHECK_EQ(sum_over(again, 1), (world_size + 1) / 2);
    CHECK_OK(MPI_Comm_free(&again));
  }
#if MPI_VERSION >= 4
  CHECK_OK(MPI_Comm_create_from_group(group, "odd or even", MPI_INFO_NULL, MPI_ERRORS_RETURN, &again));
  compare(comm, again, MPI_CONGRUENT);
  CHECK_EQ(sum_over(again, 1), (world_size + 1 - odd) / 2);
  CHECK_CLASS(MPI_Send(&odd, 1, MPI_INT, world_size, 0, again), MPI_ERR_RANK); /* its own error handler */
  CHECK_OK(MPI_Comm_free(&again));
  CHECK_OK(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, &again));
  CHECK(again == MPI_COMM_NULL);
  if (world_size > 1) {
    MPI_Group others;
    int remote = -1, flag = 0;
    CHECK_OK(MPI_Group_difference(world, group, &others));
    CHECK_OK(MPI_Intercomm_create_from_groups(group, 0, others, 0, "sides", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                              &again));
    CHECK_OK(MPI_Comm_test_inter(again, &flag));
    CHECK(flag);
    CHECK_OK(MPI_Comm_remote_size(again, &remote));
    CHECK_EQ(remote, (world_size + odd) / 2);
    if (rank < remote) {
      int got = -1;
      CHECK_OK(MPI_Sendrecv(&world_rank, 1, MPI_INT, rank, 0, &got, 1, MPI_INT, rank, 0, again,
                            MPI_STATUS_IGNORE));
      CHECK_EQ(got, 2 * rank + 1 - odd);
    }
    CHECK_OK(MPI_Comm_disconnect(&again));
#ifdef MPI_ABI_VERSION
    CHECK_CLASS(MPI_Intercomm_create_from_groups(group, 0, world, 0, "overlap", MPI_INFO_NULL,
                                                 MPI_ERRORS_RETURN, &again),
                MPI_ERR_GROUP);
#endif
    CHECK_OK(MPI_Intercomm_create_from_groups(group, 0, MPI_GROUP_EMPTY, 0, "none", MPI_INFO_NULL,
                                              MPI_ERRORS_RETURN, &again));
    CHECK(again == MPI_COMM_NULL);
#ifdef MPI_ABI_VERSION
    /* What the leader alone has to know: its mistakes are everybody's, and what the others pass does not count. */
    int leads = 0, size = 0;
    CHECK_OK(MPI_Group_size(group, &size));
    CHECK_OK(MPI_Group_rank(group, &leads));
    leads = leads == size - 1;
    MPI_Group remote_group = leads ? others : MPI_GROUP_NULL;
    CHECK_CLASS(MPI_Intercomm_create_from_groups(group, size - 1, remote_group, leads ? world_size : 0,
                                                 "leader", MPI_INFO_NULL, MPI_ERRORS_RETURN, &again),
                MPI_ERR_RANK);
    CHECK_CLASS(MPI_Intercomm_create_from_groups(group, size - 1, leads ? MPI_GROUP_NULL : others, 0, "null",
                                                 MPI_INFO_NULL, MPI_ERRORS_RETURN, &again),
                MPI_ERR_GROUP);
    CHECK_CLASS(MPI_Intercomm_create_from_groups(group, size - 1, leads ? world : others, 0, "all",
                                                 MPI_INFO_NULL, MPI_ERRORS_RETURN, &again),
                MPI_ERR_GROUP);
    CHECK_OK(MPI_Intercomm_create_from_groups(group, size - 1, leads ? MPI_GROUP_EMPTY : others, 0, "empty",
                                              MPI_INFO_NULL, MPI_ERRORS_RETURN, &again));
    CHECK(again == MPI_COMM_NULL);
    CHECK_OK(MPI_Intercomm_create_from_groups(group, size - 1, remote_group, (world_size + odd) / 2 - 1,
                                              "leads", MPI_INFO_NULL, MPI_ERRORS_RETURN, &again));
    CHECK_OK(MPI_Comm_remote_size(again, &remote));
    CHECK_EQ(remote, (world_size + odd) / 2);
    CHECK_OK(MPI_Comm_disconnect(&again));
#endif
    CHECK_OK(MPI_Group_free(&others));
  }
#endif
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_OK(MPI_Group_free(&group));
  CHECK_OK(MPI_Group_free(&world));
}

static MPI_Comm split_by(int type, const char* key, const char* value) {
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Info info;
  CHECK_OK(MPI_Info_create(&info));
  if (key != NULL) CHECK_OK(MPI_Info_set(info, key, value));
  CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, type, world_rank, info, &comm));
  CHECK_OK(MPI_Info_free(&info));
  return comm;
}

static int size_and_free(MPI_Comm comm) {
  int size = 0;
  if (comm == MPI_COMM_NULL) return 0;
  CHECK_OK(MPI_Comm_size(comm, &size));
  CHECK_EQ(sum_over(comm, 1), size);
  CHECK_OK(MPI_Comm_free(&comm));
  return size;
}

/* Where the ranks run is the machine's business; what must hold anywhere is checked. */
static void test_resources(void) {
#ifdef MPI_ABI_VERSION
  const char* resource = "mpi_hw_resource_type";
  const int shared = ranks_sharing_memory();
  CHECK_EQ(size_and_free(split_by(MPI_COMM_TYPE_HW_GUIDED, resource, "mpi_shared_memory")), shared);
  CHECK_EQ(size_and_free(split_by(MPI_COMM_TYPE_HW_GUIDED, resource, "hwloc://Machine")), world_size);
  CHECK_EQ(size_and_free(split_by(MPI_COMM_TYPE_RESOURCE_GUIDED, resource, "mpix://node")), shared);
  CHECK_EQ(size_and_free(split_by(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://world")),
           world_size);
  CHECK_EQ(size_and_free(split_by(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://SELF")), 1);
  CHECK_EQ(size_and_free(split_by(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "no://such")), 0);
  CHECK_EQ(size_and_free(split_by(MPI_COMM_TYPE_HW_GUIDED, resource, "hwloc://Nonsense")), 0);
  CHECK_EQ(size_and_free(split_by(MPI_COMM_TYPE_HW_GUIDED, NULL, NULL)), 0);
  int on_worker = size_and_free(split_by(MPI_COMM_TYPE_RESOURCE_GUIDED, resource, "mpix://worker"));
  CHECK(on_worker >= 1 && on_worker <= world_size);
  MPI_Info info;
  char value[40];
  int flag, length = sizeof value;
  CHECK_OK(MPI_Get_hw_resource_info(&info));
  CHECK_OK(MPI_Info_get_string(info, "hwloc://Core", &length, value, &flag));
  CHECK(flag);
  int on_core = size_and_free(split_by(MPI_COMM_TYPE_HW_GUIDED, resource, "Core"));
  CHECK_EQ(on_core > 0, strcmp(value, "true") == 0);
  if (on_core > 0) CHECK(on_core >= on_worker);
  CHECK_OK(MPI_Info_free(&info));
  /* Down the machine: each level is smaller than the one before, and there is an end. */
  MPI_Comm level = MPI_COMM_WORLD, finer;
  int size = world_size;
  for (;;) {
    CHECK_OK(MPI_Comm_split_type(level, MPI_COMM_TYPE_HW_UNGUIDED, world_rank, MPI_INFO_NULL, &finer));
    if (level != MPI_COMM_WORLD) CHECK_OK(MPI_Comm_free(&level));
    if (finer == MPI_COMM_NULL) break;
    int smaller;
    CHECK_OK(MPI_Comm_size(finer, &smaller));
    CHECK(smaller < size);
    size = smaller;
    level = finer;
  }
  /* The info object says what it was split by: doing so by that name gives the same. */
  CHECK_OK(MPI_Info_create(&info));
  CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, 0, info, &finer));
  if (finer != MPI_COMM_NULL) {
    MPI_Comm named;
    length = sizeof value;
    CHECK_OK(MPI_Info_get_string(info, resource, &length, value, &flag));
    CHECK(flag && strncmp(value, "hwloc://", 8) == 0);
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_GUIDED, 0, info, &named));
    compare(finer, named, MPI_CONGRUENT);
    CHECK_OK(MPI_Comm_free(&named));
    CHECK_OK(MPI_Comm_free(&finer));
  }
  CHECK_OK(MPI_Info_free(&info));
  /* Some do not take part. */
  CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, world_rank == 0 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0,
                               MPI_INFO_NULL, &finer));
  long process = kernel_process();
  CHECK_OK(MPI_Bcast(&process, 1, MPI_LONG, 0, MPI_COMM_WORLD));
  CHECK_EQ(size_and_free(finer), world_rank == 0 ? 0 : shared - (process == kernel_process()));
#endif
}

static void test_errors(void) {
  MPI_Comm comm;
  MPI_Info info;
  MPI_Request request;
  CHECK_CLASS(MPI_Comm_idup(MPI_COMM_NULL, &comm, &request), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_set_info(MPI_COMM_NULL, MPI_INFO_NULL), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_get_info(MPI_COMM_NULL, &info), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_create_group(MPI_COMM_WORLD, MPI_GROUP_NULL, 0, &comm), MPI_ERR_GROUP);
  CHECK_CLASS(MPI_Comm_split_type(MPI_COMM_WORLD, -77, 0, MPI_INFO_NULL, &comm), MPI_ERR_ARG);
#ifdef MPI_ABI_VERSION
  char* tag = check_malloc(MPI_MAX_STRINGTAG_LEN + 1);
  MPI_Group self;
  CHECK_OK(MPI_Comm_group(MPI_COMM_SELF, &self));
  memset(tag, 'x', MPI_MAX_STRINGTAG_LEN);
  tag[MPI_MAX_STRINGTAG_LEN] = 0;
  CHECK_CLASS(MPI_Comm_idup(MPI_COMM_WORLD, NULL, &request), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Comm_idup(MPI_COMM_WORLD, &comm, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Comm_get_info(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Comm_create_from_group(self, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Comm_create_from_group(self, NULL, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Comm_create_from_group(MPI_GROUP_NULL, "t", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
              MPI_ERR_GROUP);
  CHECK_CLASS(MPI_Comm_create_from_group(self, "t", MPI_INFO_NULL, MPI_ERRHANDLER_NULL, &comm),
              MPI_ERR_ERRHANDLER);
  CHECK_CLASS(MPI_Intercomm_create_from_groups(self, 1, MPI_GROUP_EMPTY, 0, "t", MPI_INFO_NULL,
                                               MPI_ERRORS_RETURN, &comm),
              MPI_ERR_RANK);
  CHECK_OK(MPI_Comm_create_group(MPI_COMM_WORLD, self, 0, &comm));
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_CLASS(MPI_Comm_create_group(MPI_COMM_WORLD, self, -1, &comm), MPI_ERR_TAG);
  CHECK_OK(MPI_Group_free(&self));
  CHECK_OK(MPI_Comm_get_parent(&comm));
  CHECK(comm == MPI_COMM_NULL);
  free(tag);
#endif
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  test_idup();
  test_setting_early();
  test_hints();
  test_attributes();
  test_groups();
  test_resources();
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  test_errors();
  return check_end();
}
