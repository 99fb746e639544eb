/* Files: every way to read and to write, with counts of both sizes (MPI_File_write_at, MPI_File_write_at_c ...): individual and shared
 * pointers, explicit offsets, nonblocking, collective, split collective. MPI report, 14.4. */
#include "file_helpers.h"

#define COUNT 100

static MPI_File file;
static int mine[COUNT], got[COUNT];
static int form; /* of this write; its numbers differ from all others' */
static int partner;

static int number(int rank, int i) {
  return form * 1000000 + rank * 1000 + i;
}

static void fill(void) {
  form++;
  for (int i = 0; i < COUNT; i++) mine[i] = number(world_rank, i);
}

static void clear(void) {
  memset(got, 0, sizeof got);
}

static void check_block(const int* block, int rank) {
  for (int i = 0; i < COUNT; i++) CHECK_EQ(block[i], number(rank, i));
}

static int rank_of(const int* block) {
  const int rank = block[0] / 1000 % 1000;
  CHECK(rank >= 0 && rank < world_size);
  return rank;
}

static void check_count(const MPI_Status* status) {
  int count = -1;
  CHECK_OK(MPI_Get_count(status, MPI_INT, &count));
  CHECK_EQ(count, COUNT);
}

static void finish(MPI_Request* request) {
  MPI_Status status;
  CHECK_OK(MPI_Wait(request, &status));
  check_count(&status);
}

static void settle(void) {
  CHECK_OK(MPI_File_sync(file));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_sync(file));
}

/* Each rank's block lies in its place. */
static void check_written(void) {
  settle();
  clear();
  CHECK_OK(MPI_File_read_at(file, COUNT * partner, got, COUNT, MPI_INT, MPI_STATUS_IGNORE));
  check_block(got, partner);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Each rank's block lies somewhere, once. */
static void check_written_by_all(void) {
  int* seen = calloc((size_t)world_size, sizeof *seen);
  settle();
  for (int i = 0; i < world_size; i++) {
    CHECK_OK(MPI_File_read_at(file, COUNT * i, got, COUNT, MPI_INT, MPI_STATUS_IGNORE));
    check_block(got, rank_of(got));
    CHECK_EQ(seen[rank_of(got)]++, 0);
  }
  free(seen);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Each rank has got another one's block. */
static void check_read_by_all(void) {
  int* seen = calloc((size_t)world_size, sizeof *seen);
  check_block(got, rank_of(got));
  seen[rank_of(got)] = 1;
  CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, seen, world_size, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
  for (int i = 0; i < world_size; i++) CHECK_EQ(seen[i], 1);
  free(seen);
}

static void to(int rank) {
  CHECK_OK(MPI_File_seek(file, COUNT * rank, MPI_SEEK_SET));
}

static void to_begin(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
}

#define FORMS(suffix)                                                                      \
  static void write_forms##suffix(void) {                                                  \
    MPI_Request request;                                                                   \
    MPI_Status status;                                                                     \
    const MPI_Offset place = COUNT * world_rank;                                           \
    fill();                                                                                \
    CHECK_OK(MPI_File_write_at##suffix(file, place, mine, COUNT, MPI_INT, &status));       \
    check_count(&status);                                                                  \
    check_written();                                                                       \
    fill();                                                                                \
    CHECK_OK(MPI_File_write_at_all##suffix(file, place, mine, COUNT, MPI_INT, &status));   \
    check_count(&status);                                                                  \
    check_written();                                                                       \
    fill();                                                                                \
    CHECK_OK(MPI_File_iwrite_at##suffix(file, place, mine, COUNT, MPI_INT, &request));     \
    finish(&request);                                                                      \
    check_written();                                                                       \
    fill();                                                                                \
    CHECK_OK(MPI_File_iwrite_at_all##suffix(file, place, mine, COUNT, MPI_INT, &request)); \
    finish(&request);                                                                      \
    check_written();                                                                       \
    fill();                                                                                \
    CHECK_OK(MPI_File_write_at_all_begin##suffix(file, place, mine, COUNT, MPI_INT));      \
    CHECK_OK(MPI_File_write_at_all_end(file, mine, &status));                              \
    check_count(&status);                                                                  \
    check_written();                                                                       \
    fill();                                                                                \
    to(world_rank);                                                                        \
    CHECK_OK(MPI_File_write##suffix(file, mine, COUNT, MPI_INT, &status));                 \
    check_count(&status);                                                                  \
    check_written();                                                                       \
    fill();                                                                                \
    to(world_rank);                                                                        \
    CHECK_OK(MPI_File_write_all##suffix(file, mine, COUNT, MPI_INT, &status));             \
    check_count(&status);                                                                  \
    check_written();                                                                       \
    fill();                                                                                \
    to(world_rank);                                                                        \
    CHECK_OK(MPI_File_iwrite##suffix(file, mine, COUNT, MPI_INT, &request));               \
    finish(&request);                                                                      \
    check_written();                                                                       \
    fill();                                                                                \
    to(world_rank);                                                                        \
    CHECK_OK(MPI_File_iwrite_all##suffix(file, mine, COUNT, MPI_INT, &request));           \
    finish(&request);                                                                      \
    check_written();                                                                       \
    fill();                                                                                \
    to(world_rank);                                                                        \
    CHECK_OK(MPI_File_write_all_begin##suffix(file, mine, COUNT, MPI_INT));                \
    CHECK_OK(MPI_File_write_all_end(file, mine, &status));                                 \
    check_count(&status);                                                                  \
    check_written();                                                                       \
    fill();                                                                                \
    to_begin();                                                                            \
    CHECK_OK(MPI_File_write_shared##suffix(file, mine, COUNT, MPI_INT, &status));          \
    check_count(&status);                                                                  \
    check_written_by_all();                                                                \
    fill();                                                                                \
    to_begin();                                                                            \
    CHECK_OK(MPI_File_iwrite_shared##suffix(file, mine, COUNT, MPI_INT, &request));        \
    finish(&request);                                                                      \
    check_written_by_all();                                                                \
    fill();                                                                                \
    to_begin();                                                                            \
    CHECK_OK(MPI_File_write_ordered_begin##suffix(file, mine, COUNT, MPI_INT));            \
    CHECK_OK(MPI_File_write_ordered_end(file, mine, &status));                             \
    check_count(&status);                                                                  \
    check_written();                                                                       \
    fill();                                                                                \
    to_begin();                                                                            \
    CHECK_OK(MPI_File_write_ordered##suffix(file, mine, COUNT, MPI_INT, &status));         \
    check_count(&status);                                                                  \
    check_written();                                                                       \
  }                                                                                        \
  /* Of what has been written last, each rank's block in its place. */                     \
  static void read_forms##suffix(void) {                                                   \
    MPI_Request request;                                                                   \
    MPI_Status status;                                                                     \
    const MPI_Offset place = COUNT * partner;                                              \
    clear();                                                                               \
    CHECK_OK(MPI_File_read_at##suffix(file, place, got, COUNT, MPI_INT, &status));         \
    check_count(&status);                                                                  \
    check_block(got, partner);                                                             \
    clear();                                                                               \
    CHECK_OK(MPI_File_read_at_all##suffix(file, place, got, COUNT, MPI_INT, &status));     \
    check_count(&status);                                                                  \
    check_block(got, partner);                                                             \
    clear();                                                                               \
    CHECK_OK(MPI_File_iread_at##suffix(file, place, got, COUNT, MPI_INT, &request));       \
    finish(&request);                                                                      \
    check_block(got, partner);                                                             \
    clear();                                                                               \
    CHECK_OK(MPI_File_iread_at_all##suffix(file, place, got, COUNT, MPI_INT, &request));   \
    finish(&request);                                                                      \
    check_block(got, partner);                                                             \
    clear();                                                                               \
    CHECK_OK(MPI_File_read_at_all_begin##suffix(file, place, got, COUNT, MPI_INT));        \
    CHECK_OK(MPI_File_read_at_all_end(file, got, &status));                                \
    check_count(&status);                                                                  \
    check_block(got, partner);                                                             \
    clear();                                                                               \
    to(partner);                                                                           \
    CHECK_OK(MPI_File_read##suffix(file, got, COUNT, MPI_INT, &status));                   \
    check_count(&status);                                                                  \
    check_block(got, partner);                                                             \
    clear();                                                                               \
    to(partner);                                                                           \
    CHECK_OK(MPI_File_read_all##suffix(file, got, COUNT, MPI_INT, &status));               \
    check_count(&status);                                                                  \
    check_block(got, partner);                                                             \
    clear();                                                                               \
    to(partner);                                                                           \
    CHECK_OK(MPI_File_iread##suffix(file, got, COUNT, MPI_INT, &request));                 \
    finish(&request);                                                                      \
    check_block(got, partner);                                                             \
    clear();                                                                               \
    to(partner);                                                                           \
    CHECK_OK(MPI_File_iread_all##suffix(file, got, COUNT, MPI_INT, &request));             \
    finish(&request);                                                                      \
    check_block(got, partner);                                                             \
    clear();                                                                               \
    to(partner);                                                                           \
    CHECK_OK(MPI_File_read_all_begin##suffix(file, got, COUNT, MPI_INT));                  \
    CHECK_OK(MPI_File_read_all_end(file, got, &status));                                   \
    check_count(&status);                                                                  \
    check_block(got, partner);                                                             \
    clear();                                                                               \
    to_begin();                                                                            \
    CHECK_OK(MPI_File_read_shared##suffix(file, got, COUNT, MPI_INT, &status));            \
    check_count(&status);                                                                  \
    check_read_by_all();                                                                   \
    clear();                                                                               \
    to_begin();                                                                            \
    CHECK_OK(MPI_File_iread_shared##suffix(file, got, COUNT, MPI_INT, &request));          \
    finish(&request);                                                                      \
    check_read_by_all();                                                                   \
    clear();                                                                               \
    to_begin();                                                                            \
    CHECK_OK(MPI_File_read_ordered##suffix(file, got, COUNT, MPI_INT, &status));           \
    check_count(&status);                                                                  \
    check_block(got, world_rank);                                                          \
    clear();                                                                               \
    to_begin();                                                                            \
    CHECK_OK(MPI_File_read_ordered_begin##suffix(file, got, COUNT, MPI_INT));              \
    CHECK_OK(MPI_File_read_ordered_end(file, got, &status));                               \
    check_count(&status);                                                                  \
    check_block(got, world_rank);                                                          \
  }

FORMS()
FORMS(_c)

static void test_extent(void) {
  MPI_Aint small = 0;
  MPI_Count large = 0;
  CHECK_OK(MPI_File_get_type_extent(file, MPI_INT, &small));
  CHECK_OK(MPI_File_get_type_extent_c(file, MPI_INT, &large));
  CHECK_EQ(small, sizeof(int));
  CHECK_EQ(large, sizeof(int));
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  partner = (world_rank + 1) % world_size;
  make_path("forms");
  file = open_new(MPI_MODE_RDWR);
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  write_forms();
  read_forms();
  write_forms_c();
  read_forms_c();
  test_extent();
#ifdef MPI_ABI_VERSION
  CHECK(MPI_File_fromint(MPI_File_toint(file)) == file);
#endif
  close_and_delete(&file);
  return check_end();
}
