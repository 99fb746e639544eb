/* checkpoint_windows FOLDER DIRECTORY: windows of three flavours and MPI files with views and pointers, when the ranks are saved between two epochs.
 * `checkpoint_windows why WHAT FOLDER DIRECTORY`: with one that is in the way. */
#include <mpi.h>
#include <mpix.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kCells = 1000 };
static int rank, size, left, right;

static void expect(int good, const char* what) {
  if (!good) printf("rank %d: %s is wrong\n", rank, what);
}
static int destroy(MPI_Win window, int key, void* value, void* state) {
  (void)window, (void)key, (void)state;
  ++*(int*)value;
  return MPI_SUCCESS;
}
static int failed;
static void on_error(MPI_File* file, int* code, ...) {
  (void)file, (void)code;
  failed++;
}

static void both(const char* folder, const char* directory) {
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  int half_rank, half_size;
  MPI_Comm_rank(half, &half_rank);
  MPI_Comm_size(half, &half_size);
  double* const created = malloc(kCells * sizeof *created);
  double* allocated;
  static double attached[kCells];
  static int gone;
  for (int i = 0; i < kCells; i++) created[i] = attached[i] = rank * 10000 + i;
  MPI_Win window, own, dynamic;
  MPI_Win_create(created, kCells * sizeof(double), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_allocate((rank + 1) * kCells * sizeof(double), sizeof(double), MPI_INFO_NULL, half, &allocated,
                   &own);
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &dynamic);
  MPI_Win_attach(dynamic, attached, sizeof attached);
  MPI_Win_set_name(own, "of its own");
  int key;
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, destroy, &key, NULL);
  MPI_Win_set_attr(own, key, &gone);
  for (int i = 0; i < kCells; i++) allocated[i] = -1;
  MPI_Aint mine, theirs;
  MPI_Get_address(attached, &mine);
  MPI_Sendrecv(&mine, 1, MPI_AINT, left, 0, &theirs, 1, MPI_AINT, right, 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  double value = rank + 0.5;
  MPI_Win_fence(0, window);
  MPI_Put(&value, 1, MPI_DOUBLE, right, 3, 1, MPI_DOUBLE, window);
  MPI_Win_fence(0, window);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, own);
  MPI_Accumulate(&value, 1, MPI_DOUBLE, 0, half_rank, 1, MPI_DOUBLE, MPI_SUM, own);
  MPI_Win_unlock(0, own);
  /* A file of all: each rank sees every size-th pair of integers; and one with a shared pointer, of half of them. */
  char path[4096];
  MPI_File file, shared;
  MPI_Datatype pair, tile;
  MPI_Errhandler handler;
  MPI_File_create_errhandler(on_error, &handler);
  snprintf(path, sizeof path, "%s/all", folder);
  MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_set_errhandler(file, handler);
  MPI_Errhandler_free(&handler);
  MPI_File_set_size(file, 0);
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_create_resized(pair, 0, 2 * size * sizeof(int), &tile);
  MPI_Type_commit(&tile);
  MPI_File_set_view(file, 2 * rank * sizeof(int), MPI_INT, tile, "native", MPI_INFO_NULL);
  MPI_Type_free(&tile);
  MPI_Type_free(&pair);
  int numbers[8];
  for (int i = 0; i < 8; i++) numbers[i] = 100 * rank + i;
  MPI_File_write_all(file, numbers, 4, MPI_INT, MPI_STATUS_IGNORE);
  snprintf(path, sizeof path, "%s/half.%d", folder, rank % 2);
  MPI_File_open(half, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &shared);
  MPI_File_set_atomicity(shared, 1);
  MPI_File_write_ordered(shared, numbers, 1, MPI_INT, MPI_STATUS_IGNORE);

  MPIX_Checkpoint(directory);

  int restarted, flag, length, *numberp;
  MPIX_Restarted(&restarted);
  if (rank == 0) printf("%s\n", restarted ? "restarted" : "saved");
  char name[MPI_MAX_OBJECT_NAME];
  MPI_Win_get_name(own, name, &length);
  expect(!strcmp(name, "of its own"), "a name");
  MPI_Win_get_attr(own, key, &numberp, &flag);
  expect(flag && numberp == &gone, "an attribute");
  double* base;
  MPI_Win_get_attr(own, MPI_WIN_BASE, &base, &flag);
  expect(flag && base == allocated, "the memory of the window");
  MPI_Aint* bytes;
  MPI_Win_get_attr(own, MPI_WIN_SIZE, &bytes, &flag);
  expect(flag && *bytes == (MPI_Aint)((rank + 1) * kCells * sizeof(double)), "the size of the window");
  expect(created[3] == left + 0.5 && created[4] == rank * 10000 + 4, "what was put before");
  double got = 0;
  MPI_Get(&got, 1, MPI_DOUBLE, left, 5, 1, MPI_DOUBLE, window);
  MPI_Put(&value, 1, MPI_DOUBLE, left, 6, 1, MPI_DOUBLE, window);
  MPI_Win_fence(0, window);
  expect(got == left * 10000 + 5 && created[6] == right + 0.5, "what was got and put after");
  MPI_Win_lock_all(0, own);
  MPI_Accumulate(&value, 1, MPI_DOUBLE, 0, half_rank, 1, MPI_DOUBLE, MPI_SUM, own);
  MPI_Win_unlock_all(own);
  MPI_Barrier(half);
  for (int i = 0; half_rank == 0 && i < half_size; i++)
    expect(allocated[i] == -1 + 2 * (rank % 2 + 2 * i + 0.5), "a sum");
  MPI_Win_lock(MPI_LOCK_SHARED, right, 0, dynamic);
  MPI_Get(&got, 1, MPI_DOUBLE, right, MPI_Aint_add(theirs, 7 * sizeof(double)), 1, MPI_DOUBLE, dynamic);
  MPI_Win_unlock(right, dynamic);
  expect(got == right * 10000 + 7, "attached memory");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_detach(dynamic, attached);
  MPI_Win_free(&window);
  MPI_Win_free(&own);
  MPI_Win_free(&dynamic);
  expect(gone == 1, "what is called at the end");
  MPI_File_write_all(file, numbers + 4, 4, MPI_INT, MPI_STATUS_IGNORE);
  MPI_Offset offset;
  MPI_File_get_position(file, &offset);
  expect(offset == 8, "the position");
  int again[8] = {0};
  MPI_File_read_at_all(file, 0, again, 8, MPI_INT, MPI_STATUS_IGNORE);
  expect(!memcmp(again, numbers, sizeof again), "what was written");
  MPI_File_seek(file, -1, MPI_SEEK_SET);
  expect(failed == 1, "the error handler");
  int atomic, amode;
  MPI_File_get_atomicity(shared, &atomic);
  MPI_File_get_amode(shared, &amode);
  expect(atomic && amode == (MPI_MODE_CREATE | MPI_MODE_RDWR), "how a file is open");
  MPI_File_write_ordered(shared, numbers + 1, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_get_position_shared(shared, &offset);
  expect(offset == (MPI_Offset)(2 * half_size * sizeof(int)), "the shared position");
  MPI_File_read_at(shared, half_rank * sizeof(int), again, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_read_at(shared, (half_size + half_rank) * sizeof(int), again + 1, 1, MPI_INT, MPI_STATUS_IGNORE);
  expect(again[0] == numbers[0] && again[1] == numbers[1], "what was written in order");
  MPI_File_close(&file);
  MPI_File_close(&shared);
  printf("rank %d: at the end\n", rank);
}

static void in_the_way(const char* what, const char* folder, const char* directory) {
  char path[4096], text[MPI_MAX_ERROR_STRING];
  int number = 0, length, *memory;
  MPI_Win window = MPI_WIN_NULL;
  MPI_File file = MPI_FILE_NULL;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  snprintf(path, sizeof path, "%s/way", folder);
  if (!strcmp(what, "shared")) MPI_Win_allocate_shared(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  if (!strcmp(what, "epoch")) MPI_Win_create(&number, 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  if (!strcmp(what, "epoch") && rank == 1) MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
  if (!strcmp(what, "deleted"))
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  if (!strcmp(what, "deleted") && rank == 0) remove(path);
  MPI_Error_string(MPIX_Checkpoint(directory), text, &length);
  printf("rank %d: %s\n", rank, text);
  if (!strcmp(what, "epoch") && rank == 1) MPI_Win_unlock(0, window);
  if (window != MPI_WIN_NULL) MPI_Win_free(&window);
  if (file != MPI_FILE_NULL) MPI_File_close(&file);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  left = (rank + size - 1) % size;
  right = (rank + 1) % size;
  if (!strcmp(argv[1], "why"))
    in_the_way(argv[2], argv[3], argv[4]);
  else
    both(argv[1], argv[2]);
  MPI_Finalize();
  return 0;
}
