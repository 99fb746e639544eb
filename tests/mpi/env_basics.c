/* Environment: initialization state, versions, clock, names, memory. MPI report, chapter 9. */
#include "check.h"

static void test_versions(void) {
  int version, subversion, length = -1;
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  CHECK_OK(MPI_Get_version(&version, &subversion));
  CHECK_EQ(version, MPI_VERSION);
  CHECK_EQ(subversion, MPI_SUBVERSION);
  CHECK_OK(MPI_Get_library_version(text, &length));
#ifndef OPEN_MPI /* counts the terminating zero */
  CHECK_EQ(length, strlen(text));
#endif
  CHECK(length > 0 && length < MPI_MAX_LIBRARY_VERSION_STRING);
#ifdef MPI_ABI_VERSION
  CHECK(strstr(text, "tmpi") != NULL);
#endif
}

static void test_clock(void) {
  double tick = MPI_Wtick(), last = MPI_Wtime();
  CHECK(tick > 0 && tick < 1e-3);
  for (int i = 0; i < 1000; i++) {
    double now = MPI_Wtime();
    CHECK(now >= last);
    last = now;
  }
}

static void test_processor_name(void) {
  char name[MPI_MAX_PROCESSOR_NAME];
  int length = -1;
  CHECK_OK(MPI_Get_processor_name(name, &length));
  CHECK(length > 0 && length < MPI_MAX_PROCESSOR_NAME);
  CHECK_EQ(length, strlen(name));
}

static void test_memory(void) {
  char *memory = NULL, *empty = NULL;
  CHECK_OK(MPI_Alloc_mem(100000, MPI_INFO_NULL, &memory));
  CHECK(memory != NULL);
  CHECK_EQ((uintptr_t)memory % sizeof(double), 0);
  pattern_fill(memory, 100000, 7);
  CHECK_PATTERN(memory, 100000, 7);
  CHECK_OK(MPI_Free_mem(memory));
  CHECK_OK(MPI_Alloc_mem(0, MPI_INFO_NULL, &empty));
  if (empty != NULL) CHECK_OK(MPI_Free_mem(empty));

#ifdef MPI_ABI_VERSION
  /* A hint that makes no sense is passed over. */
  const char* const alignments[] = {"8192", "4", "1048576", "24", "many", "-64", "0"};
  for (int i = 0; i < 7; i++) {
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", alignments[i]));
    CHECK_OK(MPI_Alloc_mem(100, info, &memory));
    CHECK_OK(MPI_Info_free(&info));
    const int asked = atoi(alignments[i]);
    if (i < 3) CHECK_EQ((uintptr_t)memory % (uintptr_t)asked, 0);
    pattern_fill(memory, 100, 8);
    CHECK_PATTERN(memory, 100, 8);
    CHECK_OK(MPI_Free_mem(memory));
  }
#endif
}

static void test_world(void) {
  int rank = -1, size = -1, result = -1;
  CHECK_OK(MPI_Comm_rank(MPI_COMM_SELF, &rank));
  CHECK_OK(MPI_Comm_size(MPI_COMM_SELF, &size));
  CHECK_EQ(rank, 0);
  CHECK_EQ(size, 1);
  CHECK(world_rank >= 0 && world_rank < world_size);
  CHECK_OK(MPI_Comm_compare(MPI_COMM_WORLD, MPI_COMM_SELF, &result));
  CHECK_EQ(result, world_size == 1 ? MPI_CONGRUENT : MPI_UNEQUAL);
  /* Every rank exists exactly once. */
  int sum = 0;
  CHECK_OK(MPI_Allreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  CHECK_EQ(sum, world_size * (world_size - 1) / 2);
}

int main(int argc, char** argv) {
  int flag = -1, version, subversion;
  /* What is allowed before MPI_Init. */
  if (MPI_Initialized(&flag) != MPI_SUCCESS || flag) return 1;
  if (MPI_Finalized(&flag) != MPI_SUCCESS || flag) return 1;
  if (MPI_Get_version(&version, &subversion) != MPI_SUCCESS || version != MPI_VERSION) return 1;
  check_begin(&argc, &argv);
  CHECK_OK(MPI_Initialized(&flag));
  CHECK(flag);
  CHECK_OK(MPI_Finalized(&flag));
  CHECK(!flag);
  test_versions();
  test_clock();
  test_processor_name();
  test_memory();
  test_world();
  int code = check_end();
  if (MPI_Finalized(&flag) != MPI_SUCCESS || !flag) return 1;
  if (MPI_Initialized(&flag) != MPI_SUCCESS || !flag) return 1;
  return code;
}
