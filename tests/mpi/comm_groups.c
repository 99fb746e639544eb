/* Groups: every operation, against lists computed by hand. MPI report, 7.3. */
#include "check.h"

static MPI_Group world;

/* The group's members, as ranks of MPI_COMM_WORLD, are exactly these. */
static void check_members(int line, MPI_Group group, int count, const int* want) {
  int size = -1, rank = -5, mine = MPI_UNDEFINED;
  CHECK_OK(MPI_Group_size(group, &size));
  if (size != count) check_failed(__FILE__, line, "group has %d members, should have %d", size, count);
  int *ranks = check_malloc((size_t)count * sizeof *ranks),
      *in_world = check_malloc((size_t)count * sizeof *in_world);
  for (int i = 0; i < count; i++) ranks[i] = i;
  CHECK_OK(MPI_Group_translate_ranks(group, count, ranks, world, in_world));
  for (int i = 0; i < count; i++) {
    if (in_world[i] != want[i])
      check_failed(__FILE__, line, "member %d is rank %d of the world, should be %d", i, in_world[i],
                   want[i]);
    if (want[i] == world_rank) mine = i;
  }
  CHECK_OK(MPI_Group_rank(group, &rank));
  if (rank != mine) check_failed(__FILE__, line, "own rank in the group is %d, should be %d", rank, mine);
  free(ranks);
  free(in_world);
}
#define CHECK_MEMBERS(group, count, want) check_members(__LINE__, group, count, want)

static void check_same(MPI_Group a, MPI_Group b, int want) {
  int result = -1;
  CHECK_OK(MPI_Group_compare(a, b, &result));
  CHECK_EQ(result, want);
}

static void test_incl_excl(void) {
  int n = world_size, *list = check_malloc((size_t)n * sizeof *list),
      *rest = check_malloc((size_t)n * sizeof *rest);
  MPI_Group group, other;
  for (int i = 0; i < n; i++) list[i] = n - 1 - i; /* reversed */
  CHECK_OK(MPI_Group_incl(world, n, list, &group));
  CHECK_MEMBERS(group, n, list);
  check_same(world, group, n == 1 ? MPI_IDENT : MPI_SIMILAR);
  CHECK_OK(MPI_Group_free(&group));
  CHECK(group == MPI_GROUP_NULL);

  int count = 0, others = 0;
  for (int i = 0; i < n; i++)
    if (i % 2 == 0) {
      list[count++] = i;
    } else {
      rest[others++] = i;
    }
  CHECK_OK(MPI_Group_excl(world, count, list, &group));
  CHECK_MEMBERS(group, others, rest);
  CHECK_OK(MPI_Group_incl(world, others, rest, &other));
  check_same(group, other, MPI_IDENT);
  CHECK_OK(MPI_Group_free(&group));
  CHECK_OK(MPI_Group_free(&other));

  CHECK_OK(MPI_Group_incl(world, 0, NULL, &group));
  check_same(group, MPI_GROUP_EMPTY, MPI_IDENT);
  if (group != MPI_GROUP_EMPTY) CHECK_OK(MPI_Group_free(&group));
  CHECK_OK(MPI_Group_excl(world, 0, NULL, &group));
  check_same(group, world, MPI_IDENT);
  CHECK_OK(MPI_Group_free(&group));
  free(list);
  free(rest);
}

static void test_ranges(void) {
  int n = world_size, want[2000], count = 0;
  MPI_Group group;
  int ranges[2][3] = {{0, n - 1, 3}, {n - 1, 1, -3}};
  for (int i = 0; i < n; i += 3) want[count++] = i;
  CHECK_OK(MPI_Group_range_incl(world, 1, ranges, &group));
  CHECK_MEMBERS(group, count, want);
  CHECK_OK(MPI_Group_free(&group));
  count = 0;
  for (int i = 0; i < n; i++)
    if (i % 3 != 0) want[count++] = i;
  CHECK_OK(MPI_Group_range_excl(world, 1, ranges, &group));
  CHECK_MEMBERS(group, count, want);
  if (group != MPI_GROUP_EMPTY) CHECK_OK(MPI_Group_free(&group));
  if (n >= 3 && n % 3 != 1) { /* the two ranges do not overlap */
    count = 0;
    for (int i = 0; i < n; i += 3) want[count++] = i;
    for (int i = n - 1; i >= 1; i -= 3) want[count++] = i;
    CHECK_OK(MPI_Group_range_incl(world, 2, ranges, &group));
    CHECK_MEMBERS(group, count, want);
    CHECK_OK(MPI_Group_free(&group));
  }
}

/* Sets: A is the lower two thirds, B the upper two thirds in reversed order. */
static void test_sets(void) {
  int n = world_size, third = n / 3, a[2000], b[2000], want[2000], na = 0, nb = 0, count = 0;
  MPI_Group ga, gb, group;
  for (int i = 0; i < n - third; i++) a[na++] = i;
  for (int i = n - 1; i >= third; i--) b[nb++] = i;
  CHECK_OK(MPI_Group_incl(world, na, a, &ga));
  CHECK_OK(MPI_Group_incl(world, nb, b, &gb));

  memcpy(want, a, sizeof a); /* the first group, then what only the second has, in its order */
  count = na;
  for (int i = 0; i < nb; i++)
    if (b[i] >= n - third) want[count++] = b[i];
  CHECK_OK(MPI_Group_union(ga, gb, &group));
  CHECK_MEMBERS(group, count, want);
  CHECK_OK(MPI_Group_free(&group));

  count = 0;
  for (int i = 0; i < na; i++)
    if (a[i] >= third) want[count++] = a[i];
  CHECK_OK(MPI_Group_intersection(ga, gb, &group));
  CHECK_MEMBERS(group, count, want);
  if (group != MPI_GROUP_EMPTY) CHECK_OK(MPI_Group_free(&group));

  count = 0;
  for (int i = 0; i < na; i++)
    if (a[i] < third) want[count++] = a[i];
  CHECK_OK(MPI_Group_difference(ga, gb, &group));
  CHECK_MEMBERS(group, count, want);
  if (group != MPI_GROUP_EMPTY) CHECK_OK(MPI_Group_free(&group));

  CHECK_OK(MPI_Group_union(MPI_GROUP_EMPTY, gb, &group));
  check_same(group, gb, MPI_IDENT);
  CHECK_OK(MPI_Group_free(&group));
  CHECK_OK(MPI_Group_difference(ga, ga, &group));
  check_same(group, MPI_GROUP_EMPTY, MPI_IDENT);
  if (group != MPI_GROUP_EMPTY) CHECK_OK(MPI_Group_free(&group));
  CHECK_OK(MPI_Group_free(&ga));
  CHECK_OK(MPI_Group_free(&gb));
}

static void test_translate(void) {
  MPI_Group lower;
  int range[1][3] = {{0, world_size / 2, 1}}, got[3] = {-9, -9, -9};
  int ask[3] = {0, world_size - 1, MPI_PROC_NULL};
  CHECK_OK(MPI_Group_range_incl(world, 1, range, &lower));
  CHECK_OK(MPI_Group_translate_ranks(world, 3, ask, lower, got));
  CHECK_EQ(got[0], 0);
  CHECK_EQ(got[1], world_size - 1 <= world_size / 2 ? world_size - 1 : MPI_UNDEFINED);
  CHECK_EQ(got[2], MPI_PROC_NULL);
  CHECK_OK(MPI_Group_free(&lower));
}

static void test_errors(void) {
  MPI_Group group;
  int wrong[1] = {world_size}, twice[2] = {0, 0}, size;
  int zero_stride[1][3] = {{0, 0, 0}}, outside[1][3] = {{0, world_size, 1}};
  CHECK_CLASS(MPI_Group_incl(world, 1, wrong, &group), MPI_ERR_RANK);
#ifndef OPEN_MPI /* says MPI_ERR_GROUP */
  CHECK_CLASS(MPI_Group_excl(world, 1, wrong, &group), MPI_ERR_RANK);
#endif
  int class_ =
      class_of(MPI_Group_range_incl(world, 1, outside, &group)); /* the standard does not say which */
  CHECK(class_ == MPI_ERR_RANK || class_ == MPI_ERR_ARG);
  CHECK_CLASS(MPI_Group_size(MPI_GROUP_NULL, &size), MPI_ERR_GROUP);
  CHECK_CLASS(MPI_Group_rank(MPI_GROUP_NULL, &size), MPI_ERR_GROUP);
  CHECK_CLASS(MPI_Group_union(world, MPI_GROUP_NULL, &group), MPI_ERR_GROUP);
  group = MPI_GROUP_NULL;
  CHECK_CLASS(MPI_Group_free(&group), MPI_ERR_GROUP);
#ifdef MPI_ABI_VERSION
  if (world_size > 1) CHECK_CLASS(MPI_Group_incl(world, 2, twice, &group), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Group_range_incl(world, 1, zero_stride, &group), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Group_incl(world, -1, twice, &group), MPI_ERR_ARG);
#else
  (void)twice, (void)zero_stride;
#endif
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
  CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  test_incl_excl();
  test_ranges();
  test_sets();
  test_translate();
  test_errors();
  CHECK_OK(MPI_Group_free(&world));
  return check_end();
}
