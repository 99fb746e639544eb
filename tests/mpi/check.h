/* Checks of the MPI test programs. Each is an ordinary MPI program for any MPI; a check that fails prints
 * rank, place and what was expected, and ends the job with code 1. MPI_ABI_VERSION is defined by headers of
 * the MPI 5.0 ABI, so by tmpi's: `#ifdef MPI_ABI_VERSION` encloses what the standard leaves to the library
 * and tmpi promises. */
#ifndef TESTS_MPI_CHECK_H
#define TESTS_MPI_CHECK_H

#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int world_rank, world_size;

static inline void check_failed(const char* file, int line, const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const char* name = strrchr(file, '/');
  fprintf(stderr, "FAILED rank %d of %d: %s:%d: %s\n", world_rank, world_size, name ? name + 1 : file, line,
          text);
  fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

/* The process that the kernel knows: under tmpi that of all ranks of a node, while getpid() is the rank's. */
static inline long kernel_process(void) {
  char number[32] = "";
  return readlink("/proc/self", number, sizeof number - 1) > 0 ? atol(number) : -1;
}

#define CHECK(condition)                                                  \
  do {                                                                    \
    if (!(condition)) check_failed(__FILE__, __LINE__, "%s", #condition); \
  } while (0)

/* Two integers are equal. */
#define CHECK_EQ(got, want)                                                                       \
  do {                                                                                            \
    long long check_got = (long long)(got), check_want = (long long)(want);                       \
    if (check_got != check_want)                                                                  \
      check_failed(__FILE__, __LINE__, "%s is %lld, should be %s = %lld", #got, check_got, #want, \
                   check_want);                                                                   \
  } while (0)

/* A call succeeds. */
#define CHECK_OK(call)                                                                                    \
  do {                                                                                                    \
    int check_code = (call);                                                                              \
    if (check_code != MPI_SUCCESS) check_failed(__FILE__, __LINE__, "%s returned %d", #call, check_code); \
  } while (0)

static inline int class_of(int code) {
  int class_ = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class_);
  return class_;
}

/* A call fails with an error of this class (under MPI_ERRORS_RETURN). */
#define CHECK_CLASS(call, want)                                                                            \
  do {                                                                                                     \
    int check_class = class_of(call);                                                                      \
    if (check_class != (want))                                                                             \
      check_failed(__FILE__, __LINE__, "%s: error class %d, should be %s = %d", #call, check_class, #want, \
                   (want));                                                                                \
  } while (0)

/* Two strings are equal. */
#define CHECK_STRING(got, want)                                                                \
  do {                                                                                         \
    if (strcmp((got), (want)) != 0)                                                            \
      check_failed(__FILE__, __LINE__, "%s is \"%s\", should be \"%s\"", #got, (got), (want)); \
  } while (0)

static inline void check_begin(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
}

/* The end of a test: all ranks got here. Returns main's code. */
static inline int check_end(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) printf("passed with %d ranks\n", world_size);
  MPI_Finalize();
  return 0;
}

static inline void* check_malloc(size_t bytes) {
  void* memory = malloc(bytes > 0 ? bytes : 1);
  if (memory == NULL) check_failed(__FILE__, __LINE__, "no memory for %zu bytes", bytes);
  return memory;
}

/* A generator whose numbers are the same on every machine and in every rank that starts with the same state.
 */
static inline uint32_t random_next(uint64_t* state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33);
}

/* The byte at `index` of the message number `seed`: what a sender fills in and a receiver checks. */
static inline unsigned char pattern_at(uint32_t seed, size_t index) {
  uint32_t x = (seed * 2654435761u) ^ (uint32_t)index * 40503u;
  return (unsigned char)(x >> 7 ^ x >> 19);
}
static inline void pattern_fill(void* buffer, size_t bytes, uint32_t seed) {
  for (size_t i = 0; i < bytes; i++) ((unsigned char*)buffer)[i] = pattern_at(seed, i);
}
static inline void pattern_check_at(const char* file, int line, const void* buffer, size_t bytes,
                                    uint32_t seed) {
  for (size_t i = 0; i < bytes; i++)
    if (((const unsigned char*)buffer)[i] != pattern_at(seed, i))
      check_failed(file, line, "byte %zu of %zu of message %u is wrong", i, bytes, seed);
}
#define CHECK_PATTERN(buffer, bytes, seed) pattern_check_at(__FILE__, __LINE__, buffer, bytes, seed)

/* Ranks of MPI_COMM_WORLD that share memory with this one, itself included: with tmpi those of its node
 * process, with others, who run on one machine here, all. */
static inline int ranks_sharing_memory(void) {
#ifdef MPI_ABI_VERSION
  long mine = kernel_process(), *all = (long*)check_malloc((size_t)world_size * sizeof(long));
  int count = 0;
  CHECK_OK(MPI_Allgather(&mine, 1, MPI_LONG, all, 1, MPI_LONG, MPI_COMM_WORLD));
  for (int i = 0; i < world_size; i++) count += all[i] == mine;
  free(all);
  return count;
#else
  return world_size;
#endif
}

#endif
