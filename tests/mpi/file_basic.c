/* Files: opening and closing, sizes, views, pointers, atomic mode, info. MPI report, chapter 14. */
#include "file_helpers.h"

#include <fcntl.h>
#include <sys/stat.h>

static void test_open_modes(void) {
  MPI_File file;
  make_path("modes");
  CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
              MPI_ERR_NO_SUCH_FILE);
  CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY | MPI_MODE_RDWR, MPI_INFO_NULL, &file),
              MPI_ERR_AMODE);
  CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &file),
              MPI_ERR_AMODE);
  CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, path, 0, MPI_INFO_NULL, &file), MPI_ERR_AMODE);
  file = open_new(MPI_MODE_WRONLY | MPI_MODE_EXCL);
  int amode = 0, value = 7;
  CHECK_OK(MPI_File_get_amode(file, &amode));
  CHECK_EQ(amode, MPI_MODE_WRONLY | MPI_MODE_EXCL | MPI_MODE_CREATE);
  CHECK_CLASS(MPI_File_read_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
  CHECK_OK(MPI_File_write_at(file, 4 * world_rank, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
  MPI_Group group, world;
  int result;
  CHECK_OK(MPI_File_get_group(file, &group));
  CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
  CHECK_OK(MPI_Group_compare(group, world, &result));
  CHECK_EQ(result, MPI_IDENT);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  CHECK_EQ(MPI_File_f2c(MPI_File_c2f(file)) == file, 1);
  CHECK_OK(MPI_File_close(&file));
  CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_WRONLY | MPI_MODE_CREATE | MPI_MODE_EXCL,
                            MPI_INFO_NULL, &file),
              MPI_ERR_FILE_EXISTS);
  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
  CHECK_CLASS(MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
#ifdef MPI_ABI_VERSION
  CHECK_OK(MPI_File_sync(file)); /* who reads needs it, too, to see what others have written */
#endif
  CHECK_OK(MPI_File_close(&file));
  /* At the end. */
  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | MPI_MODE_APPEND, MPI_INFO_NULL, &file));
  MPI_Offset position = 0, size = 0;
  CHECK_OK(MPI_File_get_position(file, &position));
  CHECK_EQ(position, 4 * world_size);
  CHECK_OK(MPI_File_get_position_shared(file, &position));
  CHECK_EQ(position, 4 * world_size);
  CHECK_OK(MPI_File_get_size(file, &size));
  CHECK_EQ(size, 4 * world_size);
  CHECK_OK(MPI_File_close(&file));
  /* Gone with the last close. */
  CHECK_OK(
      MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
  CHECK_OK(MPI_File_close(&file));
  CHECK(access(path, F_OK) != 0);
#ifdef MPI_ABI_VERSION
  /* Or before: then it is no other file's turn, whatever that is called. */
  char other[300];
  snprintf(other, sizeof other, "%s (deleted)", path);
  file = open_new(MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  if (world_rank == 0) {
    CHECK_EQ(unlink(path), 0);
    CHECK_EQ(mkfifo(other, 0600), 0);
  }
  CHECK_OK(MPI_File_close(&file));
  if (world_rank == 0) CHECK_EQ(unlink(other), 0);
#endif
  CHECK_CLASS(MPI_File_delete(path, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
}

static void test_sizes(void) {
  make_path("sizes");
  MPI_File file = open_new(MPI_MODE_RDWR);
  MPI_Offset size = -1;
  CHECK_OK(MPI_File_set_size(file, 1000));
  CHECK_OK(MPI_File_get_size(file, &size));
  CHECK_EQ(size, 1000);
  CHECK_OK(MPI_File_preallocate(file, 500));
  CHECK_OK(MPI_File_get_size(file, &size));
  CHECK_EQ(size, 1000);
  CHECK_OK(MPI_File_preallocate(file, 3000));
  CHECK_OK(MPI_File_get_size(file, &size));
  CHECK_EQ(size, 3000);
  CHECK_OK(MPI_File_set_size(file, 10));
  CHECK_OK(MPI_File_get_size(file, &size));
  CHECK_EQ(size, 10);
  CHECK_OK(MPI_File_sync(file));
  CHECK(MPI_File_set_size(file, -1) != MPI_SUCCESS);
  /* The file shrinks while it is open: what was there is not read any more, and nothing else is. */
  unsigned char bytes[20];
  MPI_Status status;
  int count = -1;
  memset(bytes, 0x55, sizeof bytes);
  CHECK_OK(MPI_File_read_at_all(file, 5, bytes, 20, MPI_BYTE, &status));
  MPI_Get_count(&status, MPI_BYTE, &count);
  CHECK_EQ(count, 5);
  for (int i = 0; i < 20; i++) CHECK_EQ(bytes[i], i < 5 ? 0 : 0x55);
  CHECK_OK(MPI_File_read_at(file, 100, bytes, 20, MPI_BYTE, &status));
  MPI_Get_count(&status, MPI_BYTE, &count);
  CHECK_EQ(count, 0);
  close_and_delete(&file);
}

/* Somebody outside cuts the file while it is read in every way: each byte is what was there, or is not counted. (Or
 * zero: the kernel clears the rest of the last page for whoever has asked for the size before.) */
static void test_shrinks(void) {
  enum { kPieces = 64, kPiece = 16, kRounds = 12 };
  make_path("shrinks");
  MPI_File file = open_new(MPI_MODE_RDWR);
  const int all = kPieces * kPiece * world_size;
  char *data = check_malloc((size_t)all), got[kPieces * kPiece];
  memset(data, 'd', (size_t)all);
  MPI_Datatype pieces;
  CHECK_OK(MPI_Type_vector(kPieces, kPiece, kPiece * world_size, MPI_BYTE, &pieces));
  CHECK_OK(MPI_Type_commit(&pieces));
  for (int round = 0; round < kRounds; round++) {
    CHECK_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    if (world_rank == 0) CHECK_OK(MPI_File_write_at(file, 0, data, all, MPI_BYTE, MPI_STATUS_IGNORE));
    if (round % 2 == 1)
      CHECK_OK(MPI_File_set_view(file, kPiece * world_rank, MPI_BYTE, pieces, "native", MPI_INFO_NULL));
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == 0) CHECK_EQ(truncate(path, all / (round + 2)), 0);
    memset(got, 'n', sizeof got);
    const MPI_Offset where = round % 2 == 1 ? 0 : (MPI_Offset)world_rank * (int)sizeof got;
    MPI_Status status;
    int count = -1;
    if (round % 4 < 2) {
      CHECK_OK(MPI_File_read_at(file, where, got, (int)sizeof got, MPI_BYTE, &status));
    } else {
      CHECK_OK(MPI_File_read_at_all(file, where, got, (int)sizeof got, MPI_BYTE, &status));
    }
    CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &count));
    CHECK(count >= 0 && count <= (int)sizeof got);
    for (int i = 0; i < count; i++) CHECK(got[i] == 'd' || got[i] == 0);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Type_free(&pieces);
  free(data);
  close_and_delete(&file);
}

static void test_pointers(void) {
  make_path("pointers");
  MPI_File file = open_new(MPI_MODE_RDWR);
  MPI_Offset offset = -1;
  MPI_Datatype view;
  int values[6] = {0, 1, 2, 3, 4, 5}, got[6];
  /* Two of four integers. */
  CHECK_OK(MPI_Type_vector(1, 2, 2, MPI_INT, &view));
  MPI_Datatype resized;
  CHECK_OK(MPI_Type_create_resized(view, 0, 16, &resized));
  CHECK_OK(MPI_Type_commit(&resized));
  CHECK_OK(MPI_File_set_view(file, 1000 * world_rank, MPI_INT, resized, "native", MPI_INFO_NULL));
  CHECK_OK(MPI_File_write(file, values, 6, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_get_position(file, &offset));
  CHECK_EQ(offset, 6);
  CHECK_OK(MPI_File_get_byte_offset(file, 5, &offset));
  CHECK_EQ(offset, 1000 * world_rank + 2 * 16 + 4);
  CHECK_OK(MPI_File_seek(file, 2, MPI_SEEK_SET));
  CHECK_OK(MPI_File_seek(file, 1, MPI_SEEK_CUR));
  CHECK_OK(MPI_File_read(file, got, 1, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_EQ(got[0], 3);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == world_size - 1) { /* the only one whose view ends with the file */
    CHECK_OK(MPI_File_seek(file, -1, MPI_SEEK_END));
    CHECK_OK(MPI_File_read(file, got, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_EQ(got[0], 5);
  }
  CHECK(MPI_File_seek(file, -1, MPI_SEEK_SET) != MPI_SUCCESS);
  CHECK(MPI_File_read_at(file, -1, got, 1, MPI_INT, MPI_STATUS_IGNORE) != MPI_SUCCESS);
  /* The view outlives its types, and gives them back. */
  MPI_Type_free(&view);
  MPI_Type_free(&resized);
  CHECK_OK(MPI_File_read_at(file, 1, got, 5, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_EQ(got[0], 1);
  CHECK_EQ(got[4], 5);
  MPI_Datatype etype, filetype;
  MPI_Offset disp;
  char datarep[MPI_MAX_DATAREP_STRING];
  MPI_Aint lb, extent;
  CHECK_OK(MPI_File_get_view(file, &disp, &etype, &filetype, datarep));
  CHECK_EQ(disp, 1000 * world_rank);
  CHECK(etype == MPI_INT);
  CHECK_STRING(datarep, "native");
  CHECK_OK(MPI_Type_get_extent(filetype, &lb, &extent));
  CHECK_EQ(extent, 16);
  MPI_Type_free(&filetype);
  /* Not whole etypes. */
  CHECK_CLASS(MPI_File_write_at(file, 0, values, 3, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_IO);
  close_and_delete(&file);
}

static void test_shared_pointer(void) {
  enum { kBytes = 300 };
  make_path("shared");
  MPI_File file = open_new(MPI_MODE_RDWR);
  unsigned char mine[kBytes], *all = check_malloc((size_t)world_size * kBytes);
  MPI_Offset offset = -1;
  /* Everybody gets a place of its own. */
  memset(mine, world_rank + 1, sizeof mine);
  for (int i = 0; i < 3; i++)
    CHECK_OK(MPI_File_write_shared(file, mine + 100 * i, 100, MPI_BYTE, MPI_STATUS_IGNORE));
  MPI_Request request;
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_get_position_shared(file, &offset));
  CHECK_EQ(offset, world_size * kBytes);
  CHECK_OK(MPI_File_read_at(file, 0, all, world_size * kBytes, MPI_BYTE, MPI_STATUS_IGNORE));
  int* seen = check_malloc((size_t)(world_size + 1) * sizeof(int));
  memset(seen, 0, (size_t)(world_size + 1) * sizeof(int));
  for (int block = 0; block < 3 * world_size; block++) {
    const int who = all[100 * block];
    CHECK(who >= 1 && who <= world_size);
    for (int i = 0; i < 100; i++) CHECK_EQ(all[100 * block + i], who);
    seen[who]++;
  }
  for (int r = 1; r <= world_size; r++) CHECK_EQ(seen[r], 3);
  /* In the order of ranks, with other amounts. */
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  MPI_Status status;
  int count = -1;
  CHECK_OK(MPI_File_write_ordered(file, mine, world_rank % 3 + 1, MPI_BYTE, &status));
  MPI_Get_count(&status, MPI_BYTE, &count);
  CHECK_EQ(count, world_rank % 3 + 1);
  MPI_Barrier(MPI_COMM_WORLD);
  int before = 0, total = 0;
  for (int r = 0; r < world_size; r++) {
    if (r < world_rank) before += r % 3 + 1;
    total += r % 3 + 1;
  }
  CHECK_OK(MPI_File_get_position_shared(file, &offset));
  CHECK_EQ(offset, total);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  CHECK_OK(MPI_File_read_ordered_begin(file, mine, world_rank % 3 + 1, MPI_BYTE));
  CHECK_OK(MPI_File_read_ordered_end(file, mine, MPI_STATUS_IGNORE));
  for (int i = 0; i < world_rank % 3 + 1; i++) CHECK_EQ(mine[i], world_rank + 1);
  CHECK_OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
  CHECK_OK(MPI_File_iread_shared(file, mine, 1, MPI_BYTE, &request));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_get_position_shared(file, &offset));
  CHECK_EQ(offset, world_size);
  free(all);
  free(seen);
  (void)before;
  close_and_delete(&file);
}

static void test_sequential(void) {
  make_path("sequential");
  MPI_File file = open_new(MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
  int value = world_rank;
  CHECK_OK(MPI_File_write_ordered(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
#ifdef MPI_ABI_VERSION
  CHECK_CLASS(MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE),
              MPI_ERR_UNSUPPORTED_OPERATION);
#endif
  close_and_delete(&file);
}

/* In atomic mode what several write at once is in the end what one of them has written. */
static void test_atomic(void) {
  enum { kInts = 50000 };
  make_path("atomic");
  MPI_File file = open_new(MPI_MODE_RDWR);
  int flag = -1, *values = check_malloc(kInts * sizeof(int));
  MPI_Datatype every_second;
  CHECK_OK(MPI_File_get_atomicity(file, &flag));
  CHECK_EQ(flag, 0);
  CHECK_OK(MPI_File_set_atomicity(file, 1));
  CHECK_OK(MPI_File_get_atomicity(file, &flag));
  CHECK_EQ(flag, 1);
  CHECK_OK(MPI_Type_create_resized(MPI_INT, 0, 8, &every_second));
  CHECK_OK(MPI_Type_commit(&every_second));
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, every_second, "native", MPI_INFO_NULL));
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < kInts; i++) values[i] = 100 * round + world_rank;
    MPI_Barrier(MPI_COMM_WORLD);
    if (round < 2) {
      CHECK_OK(MPI_File_write_at(file, 0, values, kInts, MPI_INT, MPI_STATUS_IGNORE));
    } else {
      CHECK_OK(MPI_File_write_at_all(file, 0, values, kInts, MPI_INT, MPI_STATUS_IGNORE));
    }
    CHECK_OK(
        MPI_File_read_at(file, 0, values, kInts, MPI_INT, MPI_STATUS_IGNORE)); /* others may still write */
    for (int i = 1; i < kInts; i++) CHECK_EQ(values[i], values[0]);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Type_free(&every_second);
  free(values);
  close_and_delete(&file);
}

/* A filetype that is used once may be longer than its extent, as the types of chunked arrays are: collective calls
 * find the data that lie far behind. */
static void test_short_extent(void) {
  enum { kFar = 3000000 };
  make_path("extent");
  MPI_File file = open_new(MPI_MODE_RDWR);
  MPI_Info info;
  MPI_Datatype pieces, type;
  int lengths[3] = {5, 1, 2}, values[8], got[8];
  MPI_Aint places[3] = {20 * world_rank, kFar + 4 * world_rank, 2 * kFar + 8 * world_rank};
  CHECK_OK(MPI_Info_create(&info));
  CHECK_OK(MPI_Info_set(info, "romio_cb_write", "enable"));
  CHECK_OK(MPI_Info_set(info, "romio_cb_read", "enable"));
  CHECK_OK(MPI_Type_create_hindexed(3, lengths, places, MPI_INT, &pieces));
  CHECK_OK(MPI_Type_create_resized(pieces, 0, 32, &type));
  CHECK_OK(MPI_Type_commit(&type));
  CHECK_OK(MPI_File_set_view(file, 100, MPI_INT, type, "native", info));
  for (int i = 0; i < 8; i++) values[i] = 10 * world_rank + i, got[i] = -1;
  CHECK_OK(MPI_File_write_at_all(file, 0, values, 8, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_read_at_all(file, 0, got, 8, MPI_INT, MPI_STATUS_IGNORE));
  for (int i = 0; i < 8; i++) CHECK_EQ(got[i], values[i]);
  CHECK_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
  CHECK_OK(MPI_File_read_at(file, 100 + kFar + 4 * world_rank, got, 4, MPI_BYTE, MPI_STATUS_IGNORE));
  CHECK_EQ(got[0], 10 * world_rank + 5);
  /* One member sees nothing of the file, and takes part all the same. */
  MPI_Datatype none;
  CHECK_OK(MPI_Type_contiguous(0, MPI_INT, &none));
  CHECK_OK(MPI_Type_commit(&none));
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, world_rank == 0 ? none : MPI_INT, "native", info));
  CHECK_OK(MPI_File_write_at_all(file, world_rank, values, world_rank > 0, MPI_INT, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_File_read_at_all(file, world_rank, got, world_rank > 0, MPI_INT, MPI_STATUS_IGNORE));
  if (world_rank > 0) CHECK_EQ(got[0], 10 * world_rank);
#ifdef MPI_ABI_VERSION
  if (world_rank == 0)
    check_sentence(MPI_File_write_at(file, 0, got, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG, "nothing");
#endif
  MPI_Type_free(&none);
  MPI_Type_free(&pieces);
  MPI_Type_free(&type);
  MPI_Info_free(&info);
  close_and_delete(&file);
}

/* Columns of a matrix, each a filetype that is one element wide and used once: its repetitions go back. */
static void test_columns(void) {
  const int rows = (4 << 20) / (4 * world_size);
  make_path("columns");
  MPI_File file = open_new(MPI_MODE_RDWR);
  MPI_Datatype every, column;
  int *values = check_malloc((size_t)rows * sizeof(int)), *got = check_malloc((size_t)rows * sizeof(int));
  CHECK_OK(MPI_Type_vector(rows, 1, world_size, MPI_INT, &every));
  CHECK_OK(MPI_Type_create_resized(every, 0, sizeof(int), &column));
  CHECK_OK(MPI_Type_commit(&column));
  CHECK_OK(MPI_File_set_view(file, 4 * world_rank, MPI_INT, column, "native", MPI_INFO_NULL));
  for (int i = 0; i < rows; i++) values[i] = i * world_size + world_rank;
  CHECK_OK(MPI_File_write_all(file, values, rows, MPI_INT, MPI_STATUS_IGNORE));
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
  CHECK_OK(MPI_File_read_at(file, (MPI_Offset)rows * world_rank, got, rows, MPI_INT, MPI_STATUS_IGNORE));
  for (int i = 0; i < rows; i++) CHECK_EQ(got[i], rows * world_rank + i);
  CHECK_OK(MPI_File_set_view(file, 4 * world_rank, MPI_INT, column, "native", MPI_INFO_NULL));
  memset(got, 0, (size_t)rows * sizeof(int));
  CHECK_OK(MPI_File_read_all(file, got, rows, MPI_INT, MPI_STATUS_IGNORE));
  CHECK(memcmp(got, values, (size_t)rows * sizeof(int)) == 0);
  MPI_Type_free(&every);
  MPI_Type_free(&column);
  free(values);
  free(got);
  close_and_delete(&file);
}

/* Data that lie so far apart that aggregators would look at thousands of millions of windows. */
static void test_far_apart(void) {
#ifdef MPI_ABI_VERSION
  const MPI_Offset far = (MPI_Offset)1 << 43;
  make_path("far");
  MPI_File file = open_new(MPI_MODE_RDWR);
  MPI_Info info;
  CHECK_OK(MPI_Info_create(&info));
  CHECK_OK(MPI_Info_set(info, "romio_cb_write", "enable"));
  CHECK_OK(MPI_Info_set(info, "romio_cb_read", "enable"));
  CHECK_OK(MPI_Info_set(info, "cb_buffer_size", "4096"));
  CHECK_OK(MPI_File_set_info(file, info));
  MPI_Info_free(&info);
  const MPI_Offset mine = (world_rank % 2 == 0 ? 0 : far) + 4 * world_rank;
  int value = world_rank + 1, got = 0;
  const int code = MPI_File_write_at_all(file, mine, &value, 1, MPI_INT, MPI_STATUS_IGNORE);
  if (class_of(code) != MPI_ERR_NO_SPACE) { /* a file system of small files */
    CHECK_OK(code);
    CHECK_OK(MPI_File_read_at(file, mine, &got, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_EQ(got, world_rank + 1);
  }
  close_and_delete(&file);
#endif
}

/* More writes than there are threads for them wait until somebody else gives up locks of the file, and the one
 * that could not go on without a thread does all the same. */
static void test_many_locks(void) {
#ifdef MPI_ABI_VERSION
  enum { kWrites = 24, kBytes = 100, kOther = 1 << 17 };
  make_path("locks");
  if (world_rank == 0) {
    static char data[kWrites * kBytes], other[kOther];
    char second[300];
    MPI_File file, free_file;
    MPI_Request requests[kWrites], request;
    CHECK_OK(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    snprintf(second, sizeof second, "%s_free", path);
    CHECK_OK(MPI_File_open(MPI_COMM_SELF, second, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                           MPI_INFO_NULL, &free_file));
    CHECK_OK(MPI_File_set_atomicity(file, 1));
    const int fd = open(path, O_RDWR);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    CHECK_EQ(fcntl(fd, 37 /* F_OFD_SETLK */, &lock), 0);
    memset(data, 'x', sizeof data);
    for (int i = 0; i < kWrites; i++)
      CHECK_OK(MPI_File_iwrite_at(file, i * kBytes, data + i * kBytes, kBytes, MPI_BYTE, &requests[i]));
    CHECK_OK(MPI_File_iwrite_at(free_file, 0, other, kOther, MPI_BYTE, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    close(fd);
    CHECK_OK(MPI_Waitall(kWrites, requests, MPI_STATUSES_IGNORE));
    MPI_Offset size = 0;
    CHECK_OK(MPI_File_get_size(file, &size));
    CHECK_EQ(size, kWrites * kBytes);
    CHECK_OK(MPI_File_close(&free_file));
    CHECK_OK(MPI_File_close(&file));
    CHECK_OK(MPI_File_delete(path, MPI_INFO_NULL));
  }
  MPI_Barrier(MPI_COMM_WORLD);
#endif
}

static void test_info(void) {
  make_path("info");
  MPI_Info info, used;
  char value[64];
  int flag = 0;
  CHECK_OK(MPI_Info_create(&info));
  CHECK_OK(MPI_Info_set(info, "cb_buffer_size", "65536"));
  CHECK_OK(MPI_Info_set(info, "romio_ds_write", "disable"));
  CHECK_OK(MPI_Info_set(info, "cb_nodes", "1"));
  CHECK_OK(MPI_Info_set(info, "romio_cb_read", "sometimes"));
  MPI_File file;
  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
  CHECK_OK(MPI_File_get_info(file, &used));
#ifdef MPI_ABI_VERSION
  CHECK_OK(MPI_Info_get(used, "cb_buffer_size", 63, value, &flag));
  CHECK(flag);
  CHECK_STRING(value, "65536");
  CHECK_OK(MPI_Info_get(used, "romio_ds_write", 63, value, &flag));
  CHECK_STRING(value, "disable");
  CHECK_OK(MPI_Info_get(used, "cb_nodes", 63, value, &flag));
  CHECK_STRING(value, "1");
  CHECK_OK(MPI_Info_get(used, "romio_cb_read", 63, value, &flag));
  CHECK_STRING(value, "automatic");
#else
  (void)value, (void)flag;
#endif
  MPI_Info_free(&used);
  CHECK_OK(MPI_Info_set(info, "cb_buffer_size", "8192"));
  CHECK_OK(MPI_File_set_info(file, info));
  MPI_Info_free(&info);
  close_and_delete(&file);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  test_open_modes();
  test_sizes();
  test_shrinks();
  test_pointers();
  test_shared_pointer();
  test_sequential();
  test_atomic();
  test_short_extent();
  test_columns();
  test_far_apart();
  test_many_locks();
  test_info();
  return check_end();
}
