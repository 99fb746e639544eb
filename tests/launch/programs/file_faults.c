/* file_faults full DIR: fills the file system of DIR in every way of writing; nothing that was reported written is lost.
 * file_faults read-only DIR: DIR/data is there, and cannot be changed. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBlock = 30000, kPiece = 100, kMostRounds = 100 };
enum { kAt, kSought, kIat, kShared, kStrided, kTogether, kTogetherLater, kStridedTogether, kBegun, kWays };

static int rank, ranks;
static char path[4096];

#define CHECK(condition)                                                            \
  do {                                                                              \
    if (!(condition)) {                                                             \
      fprintf(stderr, "FAILED rank %d, line %d: %s\n", rank, __LINE__, #condition); \
      MPI_Abort(MPI_COMM_WORLD, 1);                                                 \
    }                                                                               \
  } while (0)

static void check_error(int code, int want, const char* part) {
  char text[MPI_MAX_ERROR_STRING];
  int class_ = 0, length = 0;
  MPI_Error_class(code, &class_);
  MPI_Error_string(code, text, &length);
  if (class_ != want || strstr(text, path) == NULL || strstr(text, "rank ") == NULL ||
      strstr(text, part) == NULL) {
    fprintf(stderr, "FAILED rank %d: class %d instead of %d, or a bad sentence: %s\n", rank, class_, want,
            text);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

static MPI_File open_file(int amode) {
  MPI_File file;
  CHECK(MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &file) == MPI_SUCCESS);
  return file;
}

static void fill_block(char* block, int way, int round) {
  for (int i = 0; i < kBlock; i++) block[i] = (char)(1 + way * 31 + round * 17 + rank * 7 + i);
}

/* Pieces of all ranks in turn, for the ways that are strided. */
static void set_view(MPI_File file) {
  MPI_Datatype pieces;
  CHECK(MPI_Type_vector(kBlock / kPiece, kPiece, kPiece * ranks, MPI_BYTE, &pieces) == MPI_SUCCESS);
  MPI_Datatype mine;
  CHECK(MPI_Type_create_resized(pieces, 0, (MPI_Aint)kBlock * ranks, &mine) == MPI_SUCCESS);
  CHECK(MPI_Type_commit(&mine) == MPI_SUCCESS);
  CHECK(MPI_File_set_view(file, rank * kPiece, MPI_BYTE, mine, "native", MPI_INFO_NULL) == MPI_SUCCESS);
  MPI_Type_free(&pieces);
  MPI_Type_free(&mine);
}

static int write_block(MPI_File file, int way, MPI_Offset offset, char* block) {
  MPI_Request request;
  switch (way) {
    case kAt:
    case kStrided:
      return MPI_File_write_at(file, offset, block, kBlock, MPI_BYTE, MPI_STATUS_IGNORE);
    case kIat: {
      const int code = MPI_File_iwrite_at(file, offset, block, kBlock, MPI_BYTE, &request);
      return code != MPI_SUCCESS ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    case kSought: {
      const int code = MPI_File_seek(file, offset, MPI_SEEK_SET);
      return code != MPI_SUCCESS ? code : MPI_File_write(file, block, kBlock, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    case kTogetherLater: {
      const int code = MPI_File_iwrite_at_all(file, offset, block, kBlock, MPI_BYTE, &request);
      return code != MPI_SUCCESS ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    case kShared:
      return MPI_File_write_ordered(file, block, kBlock, MPI_BYTE, MPI_STATUS_IGNORE);
    case kBegun: {
      const int code = MPI_File_write_at_all_begin(file, offset, block, kBlock, MPI_BYTE);
      return code != MPI_SUCCESS ? code : MPI_File_write_at_all_end(file, block, MPI_STATUS_IGNORE);
    }
    default:
      return MPI_File_write_at_all(file, offset, block, kBlock, MPI_BYTE, MPI_STATUS_IGNORE);
  }
}

static void fill_up(int way) {
  static char block[kBlock], got[kBlock];
  const int strided = way == kStrided || way == kStridedTogether || way == kBegun;
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  if (strided) set_view(file);
  int written = 0, anybody = 0, code = MPI_SUCCESS;
  for (; written < kMostRounds && !anybody; written += code == MPI_SUCCESS) {
    fill_block(block, way, written);
    const MPI_Offset offset = (MPI_Offset)kBlock * (strided ? written : written * ranks + rank);
    code = write_block(file, way, offset, block);
    const int failed = code != MPI_SUCCESS;
    if (failed) check_error(code, MPI_ERR_NO_SPACE, "offset ");
    MPI_Allreduce(&failed, &anybody, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
  CHECK(anybody && written > 0);
  for (int round = 0; round < written; round++) {
    const MPI_Offset offset = (MPI_Offset)kBlock * (strided ? round : round * ranks + rank);
    fill_block(block, way, round);
    MPI_Status status;
    int count = 0;
    CHECK(MPI_File_read_at(file, offset, got, kBlock, MPI_BYTE, &status) == MPI_SUCCESS);
    MPI_Get_count(&status, MPI_BYTE, &count);
    CHECK(count == kBlock);
    CHECK(memcmp(got, block, kBlock) == 0);
  }
  CHECK(MPI_File_close(&file) == MPI_SUCCESS);
  if (rank == 0) printf("way %d: %d rounds\n", way, written);
}

/* More than there is room for is refused, and what the file has stays; what there is room for is had then. */
static void reserve(void) {
  const MPI_Offset room = 200000;
  char data[10] = "";
  MPI_Offset size = -1;
  MPI_File file = open_file(MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  CHECK(MPI_File_write_at_all(file, 0, rank == 0 ? "there" : "", rank == 0 ? 5 : 0, MPI_BYTE,
                              MPI_STATUS_IGNORE) == MPI_SUCCESS);
  check_error(MPI_File_preallocate(file, (MPI_Offset)1 << 30), MPI_ERR_NO_SPACE, "");
  CHECK(MPI_File_read_at_all(file, 0, data, 5, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(strcmp(data, "there") == 0);
  CHECK(MPI_File_preallocate(file, room) == MPI_SUCCESS);
  CHECK(MPI_File_get_size(file, &size) == MPI_SUCCESS);
  CHECK(size >= room);
  CHECK(MPI_File_close(&file) == MPI_SUCCESS);
  if (rank == 0) printf("reserved\n");
}

static void read_only(void) {
  MPI_File file;
  char data[10] = "";
  check_error(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_ERR_READ_ONLY,
              "opening");
  check_error(MPI_File_delete(path, MPI_INFO_NULL), MPI_ERR_READ_ONLY, "deleting");
  file = open_file(MPI_MODE_RDONLY);
  CHECK(MPI_File_read_at_all(file, 0, data, 4, MPI_BYTE, MPI_STATUS_IGNORE) == MPI_SUCCESS);
  CHECK(strcmp(data, "here") == 0);
  CHECK(MPI_File_close(&file) == MPI_SUCCESS);
  strcat(path, ".new");
  check_error(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file),
              MPI_ERR_READ_ONLY, "opening");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  snprintf(path, sizeof path, "%s/data", argv[2]);
  if (strcmp(argv[1], "full") == 0) {
    for (int way = 0; way < kWays; way++) fill_up(way);
    reserve();
  } else {
    read_only();
  }
  MPI_Finalize();
  return 0;
}
