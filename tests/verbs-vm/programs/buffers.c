/* Large messages from and to memory that comes, changes and goes: whatever was at an address when it was last used, a message
 * carries what is there now, and arrives where the memory is now. */
#define _GNU_SOURCE /* mremap */
#include <sys/mman.h>

#include "../../mpi/check.h"

enum { BYTES = 512 << 10, MANY = 60 };

static uint32_t round_number;

static void* map(void* where, size_t bytes) {
  const int fixed = where != NULL ? MAP_FIXED : 0;
  void* memory = mmap(where, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
  CHECK(memory != MAP_FAILED);
  return memory;
}

/* From rank 0 to rank 1 and back, checked at both ends. */
static void exchange(void* memory, int bytes) {
  const uint32_t seed = ++round_number;
  if (world_rank == 0) {
    pattern_fill(memory, (size_t)bytes, seed);
    CHECK_OK(MPI_Send(memory, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD));
    memset(memory, 0, (size_t)bytes);
    CHECK_OK(MPI_Recv(memory, bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_PATTERN(memory, (size_t)bytes, seed + 1000000);
  } else if (world_rank == 1) {
    memset(memory, 0, (size_t)bytes);
    CHECK_OK(MPI_Recv(memory, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_PATTERN(memory, (size_t)bytes, seed);
    pattern_fill(memory, (size_t)bytes, seed + 1000000);
    CHECK_OK(MPI_Send(memory, bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD));
  }
}

/* Other pages at the same addresses, in the ways that a program can get them. */
static void pages_are_replaced(void) {
  char* memory = map(NULL, BYTES);
  exchange(memory, BYTES);
  CHECK_EQ(munmap(memory, BYTES), 0);
  map(memory, BYTES);
  exchange(memory, BYTES);
  map(memory, BYTES); /* over what is there */
  exchange(memory, BYTES);
  map(memory + BYTES / 2, 4096); /* in its middle */
  exchange(memory, BYTES);
  CHECK_EQ(madvise(memory, BYTES, MADV_DONTNEED), 0);
  exchange(memory, BYTES);
  char* elsewhere = map(NULL, BYTES);
  exchange(elsewhere, BYTES);
  CHECK(mremap(elsewhere, BYTES, BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, memory) == memory);
  exchange(memory, BYTES);
  map(elsewhere, BYTES);
  exchange(elsewhere, BYTES);
  CHECK_EQ(munmap(memory, BYTES), 0);
  CHECK_EQ(munmap(elsewhere, BYTES), 0);
}

/* A heap that gives memory back and gets other. */
static void blocks_come_and_go(void) {
  for (int i = 0; i < 8; i++) {
    const int bytes = BYTES + i * 4321;
    char* memory = check_malloc((size_t)bytes);
    exchange(memory, bytes);
    memory = realloc(memory, (size_t)bytes * 2);
    CHECK(memory != NULL);
    exchange(memory, bytes);
    free(memory);
  }
}

/* More buffers than anybody keeps, all alive, and parts of them that begin anywhere. */
static void many_buffers(void) {
  static char* memory[MANY];
  for (int i = 0; i < MANY; i++) memory[i] = map(NULL, 256 << 10);
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < MANY; i++) exchange(memory[i] + pass * (i + 1), (256 << 10) - MANY - 1);
  for (int i = 0; i < MANY; i++) CHECK_EQ(munmap(memory[i], 256 << 10), 0);
}

/* Sent from memory that nobody may write to, which an adapter cannot register for writing. */
static void constant_data(void) {
  char* memory = map(NULL, BYTES);
  if (world_rank == 0) {
    pattern_fill(memory, BYTES, 77);
    CHECK_EQ(mprotect(memory, BYTES, PROT_READ), 0);
    CHECK_OK(MPI_Send(memory, BYTES, MPI_CHAR, 1, 0, MPI_COMM_WORLD));
    CHECK_OK(MPI_Send(memory, BYTES, MPI_CHAR, 1, 0, MPI_COMM_WORLD));
  } else if (world_rank == 1) {
    for (int i = 0; i < 2; i++) {
      CHECK_OK(MPI_Recv(memory, BYTES, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      CHECK_PATTERN(memory, BYTES, 77);
    }
  }
  CHECK_EQ(munmap(memory, BYTES), 0);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  pages_are_replaced();
  blocks_come_and_go();
  many_buffers();
  constant_data();
  return check_end();
}
