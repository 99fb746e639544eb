/* A file against a naive model: an array of bytes that every rank keeps and changes as the report says. Views divide
 * the etypes of a tile among the ranks at random; all kinds of reads and writes follow each other, chosen alike in
 * all ranks, with hints that lead to every way of moving the data. MPI report, 14.3, 14.4. */
#include "check.h"

enum { kMost = 1 << 17, kSteps = 40, kTile = 48, kMaxRanks = 64 };

static unsigned char model[kMost];
static MPI_Offset model_size;
static char path[256];
static uint64_t common; /* the same numbers in all ranks */

static int pick(int from, int to) {
  return from + (int)(random_next(&common) % (uint32_t)(to - from + 1));
}

/* The view of every rank: etype i of a tile, of `etype` bytes, belongs to owner[i], or, if that is -1, to nobody. */
static int etype, tile, owner[kTile], owned[kMaxRanks], spread;
static MPI_Offset disp;

static MPI_Offset place_of(int rank, MPI_Offset index) {
  const MPI_Offset turn = index / owned[rank];
  int left = (int)(index % owned[rank]), i = 0;
  for (;; i++) {
    if (owner[i] == rank && left-- == 0) break;
  }
  return disp + (turn * (tile + spread) + i) * etype;
}

static MPI_Datatype etype_of(void) {
  return etype == 1 ? MPI_BYTE : etype == 4 ? MPI_INT : MPI_DOUBLE;
}

static MPI_Datatype make_filetype(void) {
  int lengths[kTile], displacements[kTile], blocks = 0;
  for (int i = 0; i < tile; i++) {
    if (owner[i] != world_rank) continue;
    if (i > 0 && owner[i - 1] == world_rank) {
      lengths[blocks - 1]++;
    } else {
      lengths[blocks] = 1;
      displacements[blocks++] = i;
    }
  }
  MPI_Datatype list, type;
  CHECK_OK(MPI_Type_indexed(blocks, lengths, displacements, etype_of(), &list));
  CHECK_OK(MPI_Type_create_resized(list, 0, (MPI_Aint)(tile + spread) * etype, &type));
  CHECK_OK(MPI_Type_commit(&type));
  MPI_Type_free(&list);
  return type;
}

static void choose_view(MPI_File file) {
  const int sizes[] = {1, 4, 8};
  etype = sizes[pick(0, 2)];
  disp = pick(0, 100);
  /* In turn, in blocks, or at random; at least one for everybody. */
  const int kind = pick(0, 2), block = pick(1, 3), gaps = pick(0, 1);
  spread = gaps ? pick(0, 4) : 0;
  tile = kind == 0 ? world_size : world_size * block;
  if (tile > kTile) tile = world_size;
  memset(owned, 0, sizeof owned);
  for (int i = 0; i < tile; i++) owner[i] = kind == 1 ? i / (tile / world_size) : i % world_size;
  if (kind == 2) {
    for (int i = tile - 1; i > 0; i--) {
      const int j = pick(0, i), kept = owner[i];
      owner[i] = owner[j];
      owner[j] = kept;
    }
    if (gaps && tile > world_size) {
      const int i = pick(0, tile - 1);
      int others = 0;
      for (int k = 0; k < tile; k++) others += k != i && owner[k] == owner[i];
      if (others > 0) owner[i] = -1;
    }
  }
  for (int i = 0; i < tile; i++)
    if (owner[i] >= 0) owned[owner[i]]++;
  MPI_Datatype type = make_filetype();
  CHECK_OK(MPI_File_set_view(file, disp, etype_of(), type, "native", MPI_INFO_NULL));
  MPI_Type_free(&type);
}

static MPI_File open_file(int create) {
  static const char* choices[] = {"automatic", "enable", "disable"};
  static const char* sizes[] = {"4096", "20000", "1048576"};
  static const char* switches[] = {"romio_cb_read", "romio_cb_write", "romio_ds_read", "romio_ds_write"};
  MPI_Info info;
  MPI_File file;
  CHECK_OK(MPI_Info_create(&info));
  for (int i = 0; i < 4; i++) CHECK_OK(MPI_Info_set(info, switches[i], choices[pick(0, 2)]));
  CHECK_OK(MPI_Info_set(info, "cb_buffer_size", sizes[pick(0, 2)]));
  CHECK_OK(MPI_Info_set(info, "ind_wr_buffer_size", sizes[pick(0, 2)]));
  CHECK_OK(MPI_Info_set(info, "ind_rd_buffer_size", sizes[pick(0, 2)]));
  if (pick(0, 2) == 0) {
    char nodes[12];
    snprintf(nodes, sizeof nodes, "%d", pick(1, world_size));
    CHECK_OK(MPI_Info_set(info, "cb_nodes", nodes));
  }
  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR | (create ? MPI_MODE_CREATE | MPI_MODE_EXCL : 0),
                         info, &file));
  MPI_Info_free(&info);
  CHECK_OK(MPI_File_set_atomicity(file, pick(0, 5) == 0));
  return file;
}

/* How the data lie in memory: elements of one etype, `stride` apart. */
struct layout {
  int stride;
  MPI_Datatype type;
  unsigned char* memory;
  size_t bytes;
};

static struct layout make_layout(int count, int stride) {
  struct layout l = {.stride = stride, .bytes = (size_t)count * (size_t)stride * (size_t)etype};
  CHECK_OK(MPI_Type_create_resized(etype_of(), 0, (MPI_Aint)stride * etype, &l.type));
  CHECK_OK(MPI_Type_commit(&l.type));
  l.memory = check_malloc(l.bytes);
  memset(l.memory, 0xee, l.bytes);
  return l;
}

enum {
  kAt,
  kPointer,
  kIat,
  kIpointer,
  kAlone,
  kAtAll = kAlone,
  kAll,
  kIatAll,
  kIall,
  kSplitAt,
  kSplit,
  kWays
};

static void move(MPI_File file, int writes, int way, MPI_Offset offset, struct layout* l, int count,
                 MPI_Status* status) {
  MPI_Request request = MPI_REQUEST_NULL;
  void* buf = l->memory;
  if (way == kPointer || way == kIpointer || way == kAll || way == kIall || way == kSplit)
    CHECK_OK(MPI_File_seek(file, offset, MPI_SEEK_SET));
#define BOTH(read, write) CHECK_OK(writes ? (write) : (read))
  switch (way) {
    case kAt:
      BOTH(MPI_File_read_at(file, offset, buf, count, l->type, status),
           MPI_File_write_at(file, offset, buf, count, l->type, status));
      break;
    case kPointer:
      BOTH(MPI_File_read(file, buf, count, l->type, status),
           MPI_File_write(file, buf, count, l->type, status));
      break;
    case kIat:
      BOTH(MPI_File_iread_at(file, offset, buf, count, l->type, &request),
           MPI_File_iwrite_at(file, offset, buf, count, l->type, &request));
      break;
    case kIpointer:
      BOTH(MPI_File_iread(file, buf, count, l->type, &request),
           MPI_File_iwrite(file, buf, count, l->type, &request));
      break;
    case kAtAll:
      BOTH(MPI_File_read_at_all(file, offset, buf, count, l->type, status),
           MPI_File_write_at_all(file, offset, buf, count, l->type, status));
      break;
    case kAll:
      BOTH(MPI_File_read_all(file, buf, count, l->type, status),
           MPI_File_write_all(file, buf, count, l->type, status));
      break;
    case kIatAll:
      BOTH(MPI_File_iread_at_all(file, offset, buf, count, l->type, &request),
           MPI_File_iwrite_at_all(file, offset, buf, count, l->type, &request));
      break;
    case kIall:
      BOTH(MPI_File_iread_all(file, buf, count, l->type, &request),
           MPI_File_iwrite_all(file, buf, count, l->type, &request));
      break;
    case kSplitAt:
      BOTH(MPI_File_read_at_all_begin(file, offset, buf, count, l->type),
           MPI_File_write_at_all_begin(file, offset, buf, count, l->type));
      BOTH(MPI_File_read_at_all_end(file, buf, status), MPI_File_write_at_all_end(file, buf, status));
      break;
    default:
      BOTH(MPI_File_read_all_begin(file, buf, count, l->type),
           MPI_File_write_all_begin(file, buf, count, l->type));
      BOTH(MPI_File_read_all_end(file, buf, status), MPI_File_write_all_end(file, buf, status));
      break;
  }
  if (request != MPI_REQUEST_NULL) CHECK_OK(MPI_Wait(&request, status));
  if (way == kPointer || way == kAll) {
    MPI_Offset position = -1;
    CHECK_OK(MPI_File_get_position(file, &position));
    if (writes) CHECK_EQ(position, offset + count);
  }
}

/* Everybody writes, each to its own part; the model is told of all. */
static void step_write(MPI_File file, uint32_t seed) {
  const int way = pick(0, kWays - 1), stride = pick(1, 2),
            most = pick(0, 1) ? 20 : kMost / 4 / etype / (tile + spread);
  int count = 0;
  MPI_Offset offset = 0;
  for (int rank = 0; rank < world_size; rank++) {
    const int n = pick(0, most);
    const MPI_Offset start = pick(0, 30);
    for (int i = 0; i < n; i++) {
      const MPI_Offset at = place_of(rank, start + i);
      for (int b = 0; b < etype; b++) {
        CHECK(at + b < kMost);
        model[at + b] = pattern_at(seed + (uint32_t)rank, (size_t)(i * etype + b));
      }
      if (at + etype > model_size) model_size = at + etype;
    }
    if (rank == world_rank) count = n, offset = start;
  }
  struct layout l = make_layout(count, stride);
  for (int i = 0; i < count; i++)
    for (int b = 0; b < etype; b++)
      l.memory[i * stride * etype + b] = pattern_at(seed + (uint32_t)world_rank, (size_t)(i * etype + b));
  MPI_Status status;
  int got = -1;
  move(file, 1, way, offset, &l, count, &status);
  MPI_Get_count(&status, l.type, &got);
  CHECK_EQ(got, count);
  MPI_Type_free(&l.type);
  free(l.memory);
}

/* Everybody reads something, some of it behind the end. */
static void step_read(MPI_File file) {
  const int way = pick(0, kWays - 1), stride = pick(1, 2),
            most = pick(0, 1) ? 20 : kMost / 4 / etype / (tile + spread);
  int count = 0;
  MPI_Offset offset = 0;
  for (int rank = 0; rank < world_size; rank++) {
    const int n = pick(0, most);
    const MPI_Offset start = pick(0, 40);
    if (rank == world_rank) count = n, offset = start;
  }
  struct layout l = make_layout(count, stride);
  MPI_Status status;
  int got = -1;
  move(file, 0, way, offset, &l, count, &status);
  MPI_Count bytes = -1, there = 0;
  MPI_Get_elements_x(&status, MPI_BYTE, &bytes);
  MPI_Get_count(&status, l.type, &got);
  for (int i = 0; i < count; i++) {
    const MPI_Offset at = place_of(world_rank, offset + i);
    for (int b = 0; b < stride * etype; b++) {
      const unsigned char is = l.memory[i * stride * etype + b];
      if (b < etype && at + b < model_size) {
        there++;
        if (is != model[at + b])
          check_failed(__FILE__, __LINE__, "byte %d of element %d, at %lld, is %d, should be %d (way %d)", b,
                       i, (long long)(at + b), is, model[at + b], way);
      } else if (b >= etype || at >= model_size) {
        CHECK_EQ(is, 0xee);
      }
    }
  }
  CHECK_EQ(bytes, there);
  MPI_Type_free(&l.type);
  free(l.memory);
}

static void step_size(MPI_File file) {
  if (pick(0, 1)) {
    const MPI_Offset size = pick(0, kMost / 4);
    CHECK_OK(MPI_File_set_size(file, size));
    if (size < model_size) memset(model + size, 0, (size_t)(model_size - size));
    model_size = size;
  } else {
    const MPI_Offset size = pick(1, kMost / 4);
    CHECK_OK(MPI_File_preallocate(file, size));
    if (size > model_size) model_size = size;
  }
}

/* The whole file, by other means. */
static void check_file(void) {
  if (world_rank != 0) return;
  FILE* stream = fopen(path, "rb");
  CHECK(stream != NULL);
  unsigned char* bytes = check_malloc(kMost);
  const size_t size = fread(bytes, 1, kMost, stream);
  CHECK_EQ(size, model_size);
  for (size_t i = 0; i < size; i++)
    if (bytes[i] != model[i])
      check_failed(__FILE__, __LINE__, "byte %zu of the file is %d, should be %d", i, bytes[i], model[i]);
  free(bytes);
  fclose(stream);
}

static void run(uint32_t seed) {
  common = seed * 1000003u + 17;
  memset(model, 0, sizeof model);
  model_size = 0;
  const int pid_of_first = (int)getpid();
  int pid = pid_of_first;
  const char* directory = getenv("TMPDIR");
  CHECK_OK(MPI_Bcast(&pid, 1, MPI_INT, 0, MPI_COMM_WORLD));
  snprintf(path, sizeof path, "%s/tmpi_random_%d_%u", directory != NULL ? directory : "/tmp", pid, seed);
  MPI_File file = open_file(1);
  choose_view(file);
  for (int step = 0; step < kSteps; step++) {
    const int what = pick(0, 19);
    if (what < 8) {
      step_write(file, seed * 1000 + (uint32_t)step);
    } else if (what < 16) {
      step_read(file);
    } else if (what == 16) {
      step_size(file);
    } else if (what == 17) {
      CHECK_OK(MPI_File_close(&file));
      file = open_file(0);
      choose_view(file);
    } else {
      choose_view(file);
    }
    if (what < 8) CHECK_OK(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Offset size = -1;
  CHECK_OK(MPI_File_get_size(file, &size));
  CHECK_EQ(size, model_size);
  CHECK_OK(MPI_File_close(&file));
  check_file();
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) CHECK_OK(MPI_File_delete(path, MPI_INFO_NULL));
  MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  const int seeds = argc > 1 ? atoi(argv[1]) : 6, first = argc > 2 ? atoi(argv[2]) : 1;
  if (world_size > kTile) {
    if (world_rank == 0) fprintf(stderr, "at most %d ranks\n", kTile);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  for (int seed = first; seed < first + seeds; seed++) run((uint32_t)seed);
  return check_end();
}
