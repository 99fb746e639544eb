/* Files: what is refused, and error handlers: each error is an error class and a sentence. MPI report, chapter 14. */
#include "file_helpers.h"

#include <sys/resource.h>

static const char* no_info_path = "/nowhere/at/all";

static void test_bad_views(void) {
  make_path("views");
  MPI_File file = open_new(MPI_MODE_RDWR);
  MPI_Datatype type;
  CHECK(MPI_File_set_view(file, -1, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL) != MPI_SUCCESS);
  CHECK_CLASS(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "roman", MPI_INFO_NULL),
              MPI_ERR_UNSUPPORTED_DATAREP);
  CHECK_OK(MPI_Type_contiguous(3, MPI_BYTE, &type));
#ifdef MPI_ABI_VERSION
  check_sentence(MPI_File_set_view(file, 0, MPI_BYTE, type, "native", MPI_INFO_NULL), MPI_ERR_TYPE,
                 "committed");
  CHECK_OK(MPI_Type_commit(&type));
  check_sentence(MPI_File_set_view(file, 0, MPI_INT, type, "native", MPI_INFO_NULL), MPI_ERR_TYPE,
                 "multiple");
  MPI_Datatype back;
  int lengths[2] = {1, 1}, displacements[2] = {4, 0};
  CHECK_OK(MPI_Type_indexed(2, lengths, displacements, MPI_INT, &back));
  CHECK_OK(MPI_Type_commit(&back));
  check_sentence(MPI_File_set_view(file, 0, MPI_INT, back, "native", MPI_INFO_NULL), MPI_ERR_TYPE, "go back");
  MPI_Type_free(&back);
  /* One rank only is wrong: all are told, and the file is as it was. */
  if (world_size > 1) {
    const int code =
        MPI_File_set_view(file, world_rank == 1 ? -1 : 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
    check_sentence(code, world_rank == 1 ? MPI_ERR_ARG : MPI_ERR_OTHER, world_rank == 1 ? "disp" : "rank 1");
    int byte = 0;
    const int other =
        MPI_File_write_at_all(file, world_rank == 0 ? -1 : world_rank, &byte, 1, MPI_BYTE, MPI_STATUS_IGNORE);
    check_sentence(other, world_rank == 0 ? MPI_ERR_ARG : MPI_ERR_OTHER,
                   world_rank == 0 ? "offset" : "rank 0");
    check_sentence(MPI_File_set_size(file, world_rank), MPI_ERR_NOT_SAME, "size");
  }
#endif
  MPI_Type_free(&type);
  close_and_delete(&file);
}

/* What one member has got wrong and finds out at once: the others are told, and do not wait for it. */
static void test_errors_of_one(void) {
#ifdef MPI_ABI_VERSION
  if (world_size == 1) return;
  make_path("one");
  const int wrong = world_rank == 1;
  const int want = wrong ? MPI_ERR_ARG : MPI_ERR_OTHER;
  MPI_File file = MPI_FILE_NULL;
  check_sentence(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                               wrong ? NULL : &file),
                 want, wrong ? "fh" : "rank 1");
  CHECK(file == MPI_FILE_NULL);
  MPI_Info bad = wrong ? (MPI_Info)(void*)(path + 1) : MPI_INFO_NULL;
  CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, bad, &file),
              wrong ? MPI_ERR_INFO : MPI_ERR_OTHER);
  file = open_new(MPI_MODE_RDWR);
  check_sentence(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, wrong ? NULL : "native", MPI_INFO_NULL), want,
                 wrong ? "datarep" : "rank 1");
  CHECK_CLASS(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", bad),
              wrong ? MPI_ERR_INFO : MPI_ERR_OTHER);
  CHECK_CLASS(MPI_File_set_info(file, bad), wrong ? MPI_ERR_INFO : MPI_ERR_OTHER);
  MPI_Request request = MPI_REQUEST_NULL;
  char byte = 1;
  const int code = MPI_File_iwrite_at_all(file, world_rank, &byte, 1, MPI_BYTE, wrong ? NULL : &request);
  check_sentence(wrong ? code : MPI_Wait(&request, MPI_STATUS_IGNORE), want, wrong ? "request" : "rank 1");
  MPI_Offset size = -1;
  CHECK_OK(MPI_File_get_size(file, &size));
  CHECK_EQ(size, 0);
  close_and_delete(&file);
#endif
}

static int handled;
static MPI_File handled_file;
static void handler(MPI_File* file, int* code, ...) {
  handled = *code;
  handled_file = *file;
}

static void test_error_handlers(void) {
  MPI_File file;
  MPI_Errhandler mine, found;
  CHECK_OK(MPI_File_get_errhandler(MPI_FILE_NULL, &found));
  CHECK(found == MPI_ERRORS_RETURN);
  CHECK_OK(MPI_File_create_errhandler(handler, &mine));
  make_path("handlers");
  file = open_new(MPI_MODE_RDWR);
  CHECK_OK(MPI_File_get_errhandler(file, &found));
  CHECK(found == MPI_ERRORS_RETURN);
  CHECK_OK(MPI_File_set_errhandler(file, mine));
  CHECK_CLASS(MPI_File_seek(file, -5, MPI_SEEK_SET), class_of(handled));
  CHECK(handled != 0);
  CHECK(handled_file == file);
  CHECK_OK(MPI_File_call_errhandler(file, MPI_ERR_ACCESS));
  CHECK_EQ(handled, MPI_ERR_ACCESS);
#ifdef MPI_ABI_VERSION
  /* Found later, and raised on the file all the same. */
  MPI_File full;
  MPI_Request request;
  static char data[1 << 17];
  if (access("/dev/full", W_OK) == 0) {
    CHECK_OK(MPI_File_open(MPI_COMM_SELF, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &full));
    CHECK_OK(MPI_File_set_errhandler(full, mine));
    handled = 0;
    CHECK_OK(MPI_File_iwrite_at(full, 0, data, sizeof data, MPI_BYTE, &request));
    CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
    CHECK_EQ(handled, MPI_ERR_NO_SPACE);
    CHECK(handled_file == full);
    CHECK_OK(MPI_File_close(&full));
  }
  CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, mine));
  handled = 0;
  CHECK_CLASS(MPI_File_delete(no_info_path, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
  CHECK_EQ(handled, MPI_ERR_NO_SUCH_FILE);
  CHECK(handled_file == MPI_FILE_NULL);
  CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
  CHECK_CLASS(MPI_File_close(&full), MPI_ERR_FILE);
#endif
  MPI_Errhandler_free(&mine);
  close_and_delete(&file);
}

/* What the operating system refuses. */
static void test_refusals(void) {
  MPI_File file;
  static char data[1 << 17];
  CHECK_CLASS(
      MPI_File_open(MPI_COMM_WORLD, "/nowhere/at/all", MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL, &file),
      MPI_ERR_NO_SUCH_FILE);
#ifdef MPI_ABI_VERSION
  check_sentence(MPI_File_open(MPI_COMM_WORLD, "/tmp", MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
                 MPI_ERR_BAD_FILE, "/tmp");
  check_sentence(MPI_File_open(MPI_COMM_WORLD, "", MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_BAD_FILE,
                 "empty");
  check_sentence(MPI_File_open(MPI_COMM_WORLD, "/tmp", MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_ERR_BAD_FILE,
                 "/tmp");
  if (access("/dev/full", W_OK) == 0) {
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
    check_sentence(MPI_File_write_at(file, 17, data, 1000, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE,
                   "1000 bytes of /dev/full failed at offset 17");
    check_sentence(MPI_File_write_at_all(file, 0, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE),
                   MPI_ERR_NO_SPACE, "/dev/full");
    /* Blocks of everybody in turn: an aggregator fails for all. */
    MPI_Datatype blocks;
    CHECK_OK(MPI_Type_vector(64, 16, 16 * world_size, MPI_BYTE, &blocks));
    CHECK_OK(MPI_Type_commit(&blocks));
    CHECK_OK(MPI_File_set_view(file, 16 * world_rank, MPI_BYTE, blocks, "native", MPI_INFO_NULL));
    check_sentence(MPI_File_write_all(file, data, 1024, MPI_BYTE, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE,
                   "/dev/full");
    MPI_Type_free(&blocks);
    CHECK_OK(MPI_File_close(&file));
  }
  /* Modes that differ. */
  if (world_size > 1) {
    make_path("different");
    check_sentence(MPI_File_open(MPI_COMM_WORLD, path,
                                 MPI_MODE_CREATE | (world_rank == 0 ? MPI_MODE_RDWR : MPI_MODE_WRONLY),
                                 MPI_INFO_NULL, &file),
                   MPI_ERR_NOT_SAME, "amode");
  }
  /* Split collectives: one at a time, and the right ends. */
  make_path("split");
  file = open_new(MPI_MODE_RDWR);
  check_sentence(MPI_File_write_all_end(file, data, MPI_STATUS_IGNORE), MPI_ERR_OTHER, "begun");
  CHECK_OK(MPI_File_write_at_all_begin(file, 100 * world_rank, data, 100, MPI_BYTE));
  check_sentence(MPI_File_write_at_all_begin(file, 0, data, 100, MPI_BYTE), MPI_ERR_OTHER,
                 "MPI_File_write_at_all_begin");
  check_sentence(MPI_File_read_at_all_end(file, data, MPI_STATUS_IGNORE), MPI_ERR_OTHER,
                 "MPI_File_write_at_all_begin");
  MPI_File kept = file;
  check_sentence(MPI_File_close(&kept), MPI_ERR_OTHER, "split");
  MPI_Status status;
  int count = 0;
  CHECK_OK(MPI_File_write_at_all_end(file, data, &status));
  MPI_Get_count(&status, MPI_BYTE, &count);
  CHECK_EQ(count, 100);
  close_and_delete(&file);
#else
  (void)data;
#endif
}

/* The limit of a process's files (ulimit -f) is an error, not a signal that ends the process. */
static void test_limit(void) {
#ifdef MPI_ABI_VERSION
  enum { kLimit = 1 << 20, kBytes = 1 << 17 };
  static char data[kBytes], got[kBytes];
  make_path("limit");
  struct rlimit saved, limit;
  CHECK_EQ(getrlimit(RLIMIT_FSIZE, &saved), 0);
  limit = (struct rlimit){.rlim_cur = kLimit, .rlim_max = saved.rlim_max};
  MPI_File file = open_new(MPI_MODE_RDWR); /* before there is a limit */
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  MPI_Barrier(MPI_COMM_WORLD);
  memset(data, 'x', sizeof data);
  MPI_Request request;
  check_sentence(MPI_File_write_at(file, kLimit + 5, data, 100, MPI_BYTE, MPI_STATUS_IGNORE),
                 MPI_ERR_NO_SPACE, "ulimit -f");
  CHECK_OK(MPI_File_iwrite_at(file, kLimit, data, kBytes, MPI_BYTE, &request));
  CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_NO_SPACE);
  check_sentence(MPI_File_set_size(file, 2 * kLimit), MPI_ERR_NO_SPACE, "ulimit -f");
  check_sentence(MPI_File_preallocate(file, 2 * kLimit), MPI_ERR_NO_SPACE, "ulimit -f");
  /* What fits is there. */
  if (world_rank == 0)
    check_sentence(MPI_File_write_at(file, kLimit - 100, data, 200, MPI_BYTE, MPI_STATUS_IGNORE),
                   MPI_ERR_NO_SPACE, "after 100 bytes");
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_File_read_at(file, kLimit - 100, got, 100, MPI_BYTE, MPI_STATUS_IGNORE));
  CHECK(memcmp(got, data, 100) == 0);
  close_and_delete(&file);
  CHECK_EQ(setrlimit(RLIMIT_FSIZE, &saved), 0);
  MPI_Barrier(MPI_COMM_WORLD);
#endif
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  test_bad_views();
  test_errors_of_one();
  test_error_handlers();
  test_refusals();
  test_limit();
  return check_end();
}
