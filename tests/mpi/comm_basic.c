/* Communicators: dup, create, compare, names, free (also with communication pending), predefined ones, many
 * of them. MPI report, 7.4. */
#include "check.h"

/* The communicator works: its sum over ranks is right, and a wildcard receive gets what was sent on it. */
static void check_works(MPI_Comm comm) {
  int rank, size, sum = -1, got = -1;
  CHECK_OK(MPI_Comm_rank(comm, &rank));
  CHECK_OK(MPI_Comm_size(comm, &size));
  CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
  CHECK_EQ(sum, size * (size - 1) / 2);
  CHECK_OK(MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 1, &got, 1, MPI_INT, MPI_ANY_SOURCE,
                        MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
  CHECK_EQ(got, (rank + size - 1) % size);
}

static void check_compare(MPI_Comm a, MPI_Comm b, int want) {
  int result = -1;
  CHECK_OK(MPI_Comm_compare(a, b, &result));
  CHECK_EQ(result, want);
}

static void test_dup(void) {
  MPI_Comm dup, again;
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
  check_compare(MPI_COMM_WORLD, dup, MPI_CONGRUENT);
  check_compare(dup, dup, MPI_IDENT);
  CHECK_OK(MPI_Comm_dup(dup, &again));
  check_works(dup);
  CHECK_OK(MPI_Comm_free(&dup));
  CHECK(dup == MPI_COMM_NULL);
  check_works(again);
  CHECK_OK(MPI_Comm_free(&again));
  CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &dup));
  check_compare(MPI_COMM_SELF, dup, MPI_CONGRUENT);
  check_works(dup);
  CHECK_OK(MPI_Comm_free(&dup));
}

static void test_create(void) {
  MPI_Group world, group, back;
  MPI_Comm comm;
  int range[1][3] = {{world_size - 1, 0, -2}}, result, inside = (world_size - 1 - world_rank) % 2 == 0, flag;
  CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  CHECK_OK(MPI_Group_range_incl(world, 1, range, &group));
  CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, group, &comm));
  CHECK_EQ(comm != MPI_COMM_NULL, inside);
  if (inside) {
    int rank;
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_EQ(rank, (world_size - 1 - world_rank) / 2);
    CHECK_OK(MPI_Comm_group(comm, &back));
    CHECK_OK(MPI_Group_compare(group, back, &result));
    CHECK_EQ(result, MPI_IDENT);
    CHECK_OK(MPI_Group_free(&back));
    CHECK_OK(MPI_Comm_test_inter(comm, &flag));
    CHECK(!flag);
    check_works(comm);
    CHECK_OK(MPI_Comm_free(&comm));
  }
  CHECK_OK(MPI_Group_free(&group));
  /* Disjoint groups in one call: the lower and the upper half each get their communicator. */
  int half = world_size / 2, lower = world_rank < half;
  int mine[1][3] = {{lower ? 0 : half, lower ? half - 1 : world_size - 1, 1}};
  CHECK_OK(MPI_Group_range_incl(world, 1, mine, &group));
  CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, group, &comm));
  check_works(comm);
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_OK(MPI_Group_free(&group));
  /* The empty group: nobody gets one. */
  CHECK_OK(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_EMPTY, &comm));
  CHECK(comm == MPI_COMM_NULL);
  CHECK_OK(MPI_Group_free(&world));
}

static void test_similar(void) {
  MPI_Comm reversed;
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &reversed));
  check_compare(MPI_COMM_WORLD, reversed, world_size == 1 ? MPI_CONGRUENT : MPI_SIMILAR);
  check_works(reversed);
  CHECK_OK(MPI_Comm_free(&reversed));
}

static void test_names(void) {
  char name[MPI_MAX_OBJECT_NAME];
  int length = -1;
  MPI_Comm comm, dup;
  CHECK_OK(MPI_Comm_get_name(MPI_COMM_WORLD, name, &length));
  CHECK_STRING(name, "MPI_COMM_WORLD");
  CHECK_EQ(length, strlen(name));
  CHECK_OK(MPI_Comm_get_name(MPI_COMM_SELF, name, &length));
  CHECK_STRING(name, "MPI_COMM_SELF");
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  CHECK_OK(MPI_Comm_get_name(comm, name, &length));
  CHECK_STRING(name, "");
  CHECK_EQ(length, 0);
  char mine[40];
  snprintf(mine, sizeof mine, "ring of rank %d", world_rank); /* names are local */
  CHECK_OK(MPI_Comm_set_name(comm, mine));
  MPI_Barrier(comm);
  CHECK_OK(MPI_Comm_get_name(comm, name, &length));
  CHECK_STRING(name, mine);
  CHECK_EQ(length, strlen(mine));
  CHECK_OK(MPI_Comm_dup(comm, &dup)); /* and not copied */
  CHECK_OK(MPI_Comm_get_name(dup, name, &length));
  CHECK_STRING(name, "");
  CHECK_OK(MPI_Comm_free(&dup));
  CHECK_OK(MPI_Comm_free(&comm));
}

/* Freed while messages are pending: they arrive all the same. */
static void test_free_pending(void) {
  MPI_Comm comm;
  int got = -1, value = world_rank + 5, right = (world_rank + 1) % world_size,
      left = (world_rank + world_size - 1) % world_size;
  MPI_Request requests[2];
  CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  CHECK_OK(MPI_Irecv(&got, 1, MPI_INT, left, 0, comm, &requests[0]));
  CHECK_OK(MPI_Issend(&value, 1, MPI_INT, right, 0, comm, &requests[1]));
  CHECK_OK(MPI_Comm_free(&comm));
  CHECK_OK(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
  CHECK_EQ(got, left + 5);
}

/* Many at once and one after the other: context ids are reused, traffic stays apart. */
static void test_many(void) {
  enum { kMany = 60 };
  MPI_Comm comms[kMany];
  MPI_Request requests[kMany];
  int got[kMany];
  for (int i = 0; i < kMany; i++) CHECK_OK(MPI_Comm_dup(i % 2 ? MPI_COMM_WORLD : MPI_COMM_SELF, &comms[i]));
  for (int i = 0; i < kMany; i++)
    CHECK_OK(MPI_Irecv(&got[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[i], &requests[i]));
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = kMany - 1; i >= 0; i--) {
    int value = 100 * i + world_rank;
    CHECK_OK(MPI_Send(&value, 1, MPI_INT, i % 2 ? (world_rank + 1) % world_size : 0, 3, comms[i]));
  }
  CHECK_OK(MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE));
  for (int i = 0; i < kMany; i++)
    CHECK_EQ(got[i], 100 * i + (i % 2 ? (world_rank + world_size - 1) % world_size : world_rank));
  for (int i = 0; i < kMany; i++) CHECK_OK(MPI_Comm_free(&comms[(i * 7) % kMany]));
  for (int i = 0; i < 500; i++) {
    MPI_Comm comm;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    if (i % 50 == 0) check_works(comm);
    CHECK_OK(MPI_Comm_free(&comm));
  }
}

static void test_errors(void) {
  MPI_Comm comm = MPI_COMM_NULL, got;
  int rank;
  MPI_Group group;
  CHECK_CLASS(MPI_Comm_rank(MPI_COMM_NULL, &rank), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_size(MPI_COMM_NULL, &rank), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_dup(MPI_COMM_NULL, &got), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_free(&comm), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_group(MPI_COMM_NULL, &group), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_split(MPI_COMM_NULL, 0, 0, &got), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_create(MPI_COMM_WORLD, MPI_GROUP_NULL, &got), MPI_ERR_GROUP);
  CHECK_CLASS(MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_NULL, &rank), MPI_ERR_COMM);
#ifdef MPI_ABI_VERSION
  comm = MPI_COMM_WORLD;
  CHECK_CLASS(MPI_Comm_free(&comm), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_split(MPI_COMM_SELF, -5, 0, &got), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Comm_rank(MPI_COMM_WORLD, NULL), MPI_ERR_ARG);
#endif
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  test_dup();
  test_create();
  test_similar();
  test_names();
  test_free_pending();
  test_many();
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  test_errors();
  return check_end();
}
