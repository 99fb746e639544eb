// A little of windows, files, threads, ports, spawned ranks, and of the C library as a rank sees it. Prints one line if
// all answers were right. Run with memory missing (allocations.py).
//
//   others FILE    FILE: where the ranks write
#include <errno.h>
#include <pthread.h>
#include <wchar.h>

#include "memory_program.h"

static void windows(void) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  enum { kWords = 64 };
  int* words;
  MPI_Win window;
  CALL(MPI_Win_allocate(kWords * (MPI_Aint)sizeof *words, sizeof *words, MPI_INFO_NULL, MPI_COMM_WORLD,
                        &words, &window));
  CALL(MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN));
  for (int i = 0; i < kWords; ++i) words[i] = -1;
  // Fences; an ordinary put, and one into every second word by a type that the target has not seen yet.
  int mine[8];
  for (int i = 0; i < 8; ++i) mine[i] = rank * 100 + i;
  MPI_Datatype spread;
  CALL(MPI_Type_vector(4, 1, 2, MPI_INT, &spread));
  CALL(MPI_Type_commit(&spread));
  CALL(MPI_Win_fence(0, window));
  CALL(MPI_Put(mine, 8, MPI_INT, next, 0, 8, MPI_INT, window));
  CALL(MPI_Put(mine, 4, MPI_INT, next, 16, 1, spread, window));
  CALL(MPI_Win_fence(0, window));
  for (int i = 0; i < 8; ++i) EXPECT(words[i] == previous * 100 + i);
  for (int i = 0; i < 4; ++i) EXPECT(words[16 + 2 * i] == previous * 100 + i);
  // Post, start, complete, wait.
  MPI_Group world, to, from;
  CALL(MPI_Comm_group(MPI_COMM_WORLD, &world));
  CALL(MPI_Group_incl(world, 1, &next, &to));
  CALL(MPI_Group_incl(world, 1, &previous, &from));
  CALL(MPI_Win_post(from, 0, window));
  CALL(MPI_Win_start(to, 0, window));
  CALL(MPI_Accumulate(mine, 8, MPI_INT, next, 0, 8, MPI_INT, MPI_SUM, window));
  CALL(MPI_Win_complete(window));
  CALL(MPI_Win_wait(window));
  for (int i = 0; i < 8; ++i) EXPECT(words[i] == 2 * (previous * 100 + i));
  CALL(MPI_Group_free(&world));
  CALL(MPI_Group_free(&to));
  CALL(MPI_Group_free(&from));
  // Locks: all ranks count in rank 0.
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  if (rank == 0) words[40] = words[41] = 0;
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  const int one = 1;
  int old = -1, seen = -1;
  CALL(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window));
  CALL(MPI_Get(&seen, 1, MPI_INT, 0, 40, 1, MPI_INT, window));
  CALL(MPI_Win_flush(0, window));
  EXPECT(seen >= 0 && seen < size);
  ++seen;
  CALL(MPI_Put(&seen, 1, MPI_INT, 0, 40, 1, MPI_INT, window));
  CALL(MPI_Win_unlock(0, window));
  CALL(MPI_Win_lock_all(0, window));
  CALL(MPI_Fetch_and_op(&one, &old, MPI_INT, 0, 41, MPI_SUM, window));
  CALL(MPI_Win_flush(0, window));
  EXPECT(old >= 0 && old < size);
  MPI_Request request;
  CALL(MPI_Rget(&seen, 1, MPI_INT, previous, 0, 1, MPI_INT, window, &request));
  CALL(MPI_Wait(&request, MPI_STATUS_IGNORE));
  EXPECT(seen == 2 * ((previous + size - 1) % size * 100));
  CALL(MPI_Win_unlock_all(window));
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  if (rank == 0) EXPECT(words[40] == size && words[41] == size);
  CALL(MPI_Win_free(&window));
  // Memory of the program's own, and memory that is attached later.
  CALL(MPI_Win_create(mine, sizeof mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &window));
  CALL(MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN));
  CALL(MPI_Win_fence(0, window));
  CALL(MPI_Get_accumulate(NULL, 0, MPI_INT, &seen, 1, MPI_INT, next, 3, 1, MPI_INT, MPI_NO_OP, window));
  CALL(MPI_Win_fence(0, window));
  EXPECT(seen == next * 100 + 3);
  CALL(MPI_Win_free(&window));
  CALL(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window));
  CALL(MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN));
  CALL(MPI_Win_attach(window, mine, sizeof mine));
  MPI_Aint address, where;
  CALL(MPI_Get_address(mine, &address));
  CALL(MPI_Sendrecv(&address, 1, MPI_AINT, previous, 9, &where, 1, MPI_AINT, next, 9, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
  CALL(MPI_Win_fence(0, window));
  CALL(MPI_Get(&seen, 1, MPI_INT, next, where, 1, MPI_INT, window));
  CALL(MPI_Win_fence(0, window));
  EXPECT(seen == next * 100);
  CALL(MPI_Win_detach(window, mine));
  CALL(MPI_Win_free(&window));
  CALL(MPI_Type_free(&spread));
}

static void files(const char* name) {
  enum { kEach = 1000 };
  int out[kEach], in[kEach];
  for (int i = 0; i < kEach; ++i) out[i] = rank * kEach + i;
  MPI_File file;
  MPI_Status status;
  int count;
  CALL(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                     MPI_INFO_NULL, &file));
  const MPI_Offset place = rank * (MPI_Offset)sizeof out;
  CALL(MPI_File_write_at(file, place, out, kEach, MPI_INT, &status));
  CALL(MPI_Get_count(&status, MPI_INT, &count));
  EXPECT(count == kEach);
  MPI_Request request;
  // Who finds no memory on the way is told by MPI_Wait, and reads again.
  int code = MPI_SUCCESS, left = 3;
  do {
    CALL(MPI_File_iread_at(file, place, in, kEach, MPI_INT, &request));
    code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  } while (no_memory(code) && left-- > 0);
  if (code != MPI_SUCCESS) give_up("MPI_File_iread_at", code);
  EXPECT(memcmp(in, out, sizeof in) == 0);
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  // Each rank every size-th number, together.
  MPI_Datatype every;
  CALL(MPI_Type_create_resized(MPI_INT, 0, size * (MPI_Aint)sizeof(int), &every));
  CALL(MPI_Type_commit(&every));
  CALL(MPI_File_set_view(file, rank * (MPI_Offset)sizeof(int), MPI_INT, every, "native", MPI_INFO_NULL));
  CALL(MPI_File_read_all(file, in, kEach, MPI_INT, MPI_STATUS_IGNORE));
  for (int i = 0; i < kEach; ++i) EXPECT(in[i] == i * size + rank);
  CALL(MPI_File_seek(file, 0, MPI_SEEK_SET));
  CALL(MPI_File_write_all_begin(file, out, kEach, MPI_INT));
  CALL(MPI_File_write_all_end(file, out, &status));
  CALL(MPI_File_read_at_all(file, 0, in, kEach, MPI_INT, MPI_STATUS_IGNORE));
  EXPECT(memcmp(in, out, sizeof in) == 0);
  CALL(MPI_File_write_at(file, 0, in, kEach, MPI_INT, MPI_STATUS_IGNORE));
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  CALL(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
  CALL(MPI_File_write_ordered(file, out, 10, MPI_INT, MPI_STATUS_IGNORE));
  CALL(MPI_File_read_at(file, rank * 10, in, 10, MPI_INT, MPI_STATUS_IGNORE));
  EXPECT(memcmp(in, out, 10 * sizeof(int)) == 0);
  CALL(MPI_Type_free(&every));
  CALL(MPI_File_close(&file));
  // What is not there is an error, not a crash.
  int class = MPI_SUCCESS;
  code = MPI_File_open(MPI_COMM_SELF, "/nowhere/at/all", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  EXPECT(code != MPI_SUCCESS);
  CALL(MPI_Error_class(code, &class));
  EXPECT(class == MPI_ERR_NO_SUCH_FILE || class == MPI_ERR_NO_MEM);
}

enum { kThreads = 3 };

static void* talk(void* argument) {
  const int me = *(const int*)argument;
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  for (int i = 0; i < 5; ++i) {
    const int out = rank * 100 + me * 10 + i;
    int in = -1;
    CALL(MPI_Sendrecv(&out, 1, MPI_INT, next, 300 + me, &in, 1, MPI_INT, previous, 300 + me, MPI_COMM_WORLD,
                      MPI_STATUS_IGNORE));
    EXPECT(in == previous * 100 + me * 10 + i);
  }
  return NULL;
}

static void threads(void) {
  pthread_t started[kThreads];
  int numbers[kThreads];
  int count = 0;
  for (int i = 0; i < kThreads; ++i) {
    numbers[i] = i;
    // Who can have no thread does its part; the neighbours wait for it.
    if (pthread_create(&started[count], NULL, talk, &numbers[i]) == 0) {
      ++count;
    } else {
      talk(&numbers[i]);
    }
  }
  for (int i = 0; i < count; ++i) pthread_join(started[i], NULL);
}

static void ports(void) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm half, other;
  CALL(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
  MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
  if (rank == 0) {
    CALL(MPI_Open_port(MPI_INFO_NULL, port));
    CALL(MPI_Publish_name("a long name for a port", MPI_INFO_NULL, port));
  }
  CALL(MPI_Barrier(MPI_COMM_WORLD));
  if (rank == 1) CALL(MPI_Lookup_name("a long name for a port", MPI_INFO_NULL, port));
  if (rank % 2 == 0) {
    CALL(MPI_Comm_accept(port, MPI_INFO_NULL, 0, half, &other));
  } else {
    CALL(MPI_Comm_connect(port, MPI_INFO_NULL, 0, half, &other));
  }
  MPI_Comm_set_errhandler(other, MPI_ERRORS_RETURN);
  const int partner = rank / 2;
  int in = -1, remote = 0;
  CALL(MPI_Comm_remote_size(other, &remote));
  if (partner < remote) {
    CALL(MPI_Sendrecv(&rank, 1, MPI_INT, partner, 7, &in, 1, MPI_INT, partner, 7, other, MPI_STATUS_IGNORE));
    EXPECT(in == (rank ^ 1));
  }
  CALL(MPI_Comm_disconnect(&other));
  CALL(MPI_Comm_free(&half));
  if (rank == 0) {
    CALL(MPI_Unpublish_name("a long name for a port", MPI_INFO_NULL, port));
    CALL(MPI_Close_port(port));
  }
}

static void parent(const char* program) {
  char* arguments[] = {(char*)"spawned", NULL};
  int codes[2];
  MPI_Comm children;
  CALL(MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, codes));
  EXPECT(codes[0] == MPI_SUCCESS && codes[1] == MPI_SUCCESS);
  MPI_Comm_set_errhandler(children, MPI_ERRORS_RETURN);
  int total = -1;
  CALL(MPI_Allreduce(&rank, &total, 1, MPI_INT, MPI_SUM, children));
  EXPECT(total == 1);  // of the children
  CALL(MPI_Comm_disconnect(&children));
}

static void child(MPI_Comm parents) {
  MPI_Comm_set_errhandler(parents, MPI_ERRORS_RETURN);
  int total = -1, count = 0;
  CALL(MPI_Comm_remote_size(parents, &count));
  CALL(MPI_Allreduce(&rank, &total, 1, MPI_INT, MPI_SUM, parents));
  EXPECT(total == count * (count - 1) / 2);
  CALL(MPI_Comm_disconnect(&parents));
  CALL(MPI_Finalize());
}

// What the C library says when it has no memory; anything else that fails is wrong.
#define LIBC(call) libc_call((call) != 0, #call)

static void libc_call(int succeeded, const char* what) {
  if (succeeded) return;
  if (errno != ENOMEM) wrong(what);
  ++retries;
  fprintf(stderr, "rank %d gives up: no memory for %s\n", rank, what);
  exit(3);
}

static void leave(void) {}

static void c_library(const char* name) {
  char variable[32], value[32];
  for (int i = 0; i < 30; ++i) {
    snprintf(variable, sizeof variable, "TMPI_TEST_%d_%d", rank, i);
    snprintf(value, sizeof value, "%d", i);
    LIBC(setenv(variable, value, 1) == 0);
  }
  for (int i = 0; i < 30; ++i) {
    snprintf(variable, sizeof variable, "TMPI_TEST_%d_%d", rank, i);
    const char* found = getenv(variable);
    EXPECT(found != NULL && atoi(found) == i);
  }
  for (int i = 0; i < 40; ++i) LIBC(atexit(leave) == 0);
  char own[512];
  snprintf(own, sizeof own, "%s.%d", name, rank);
  FILE* files[12];
  for (int i = 0; i < 12; ++i) LIBC((files[i] = fopen(own, i == 0 ? "w+" : "r")) != NULL);
  EXPECT(fprintf(files[0], "%d a line of the rank's\n", rank) > 0 && fflush(files[0]) == 0);
  int read = -1;
  EXPECT(fscanf(files[11], "%d", &read) == 1 && read == rank);
  for (int i = 0; i < 12; ++i) EXPECT(fclose(files[i]) == 0);
  EXPECT(remove(own) == 0);
  wchar_t wide[32];
  LIBC(swprintf(wide, 32, L"%d wide", rank) > 0);
  LIBC(setvbuf(stdout, NULL, _IOFBF, BUFSIZ) == 0);
  FILE* command;
  LIBC((command = popen("echo 17", "r")) != NULL);
  EXPECT(fscanf(command, "%d", &read) == 1 && read == 17);
  EXPECT(pclose(command) == 0);
}

int main(int argc, char** argv) {
  start(&argc, &argv, MPI_THREAD_MULTIPLE);
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
  MPI_Comm parents;
  CALL(MPI_Comm_get_parent(&parents));
  if (parents != MPI_COMM_NULL) {
    child(parents);
    return 0;
  }
  windows();
  files(argc > 1 ? argv[1] : "others.data");
  threads();
  ports();
  parent(argv[0]);
  c_library(argc > 1 ? argv[1] : "others.data");
  finish();
  return 0;
}
