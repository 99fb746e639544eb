/* A rank that moves to a worker on another NUMA node and stays there: its stack, its globals and its large blocks follow; those of one that
 * stays where it began do not. Prints how many pages were moved. */
#define _GNU_SOURCE
#include <malloc.h>
#include <mpi.h>
#include <mpix.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kPage = 4096, kGlobal = 256 << 10, kHeap = 1 << 20, kBlocks = 6 };

static char global[kGlobal];

static int node_of(void* address) {
  void* page = (void*)((uintptr_t)address & ~(uintptr_t)(kPage - 1));
  int status = -1;
  return syscall(SYS_move_pages, 0, 1UL, &page, NULL, &status, 0) == 0 ? status : -1;
}

static int node_of_cpu(void) {
  unsigned cpu, node = 99;
  syscall(SYS_getcpu, &cpu, &node, NULL);
  return (int)node;
}

/* Of whole pages in it, how many are on the node. */
static int pages_on(char* begin, size_t bytes, int node) {
  int count = 0;
  for (size_t at = kPage; at + 2 * kPage <= bytes; at += kPage) count += node_of(begin + at) == node;
  return count;
}

/* All whole pages in it are. */
static int is_on(char* begin, size_t bytes, int node) {
  return pages_on(begin, bytes, node) == (int)(bytes / kPage) - 2;
}

static char* map(size_t bytes) {
  return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void compute(double seconds) {
  const double end = MPIX_Rtime() + seconds;
  while (MPIX_Rtime() < end) continue;
}

static void fail(const char* what, int is, int wanted) {
  fprintf(stderr, "follow: %s: %d instead of %d\n", what, is, wanted);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  (void)argc;
  (void)argv;
  int rank, workers;
  char local[64] = "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPIX_Get_worker(NULL, &workers);
  if (workers != 2) fail("workers", workers, 2);
  char* mapped = map(2 * kHeap);
  munmap(mapped + kHeap, kHeap); /* a part of it stays */
  char* moved = mremap(map(kHeap / 2), kHeap / 2, kHeap, MREMAP_MAYMOVE);
  char* blocks[kBlocks] = {malloc(kHeap), calloc(kHeap, 1), valloc(kHeap), pvalloc(kHeap), moved, mapped};
  char* freed = malloc(kHeap);
  memset(global, rank + 1, sizeof global);
  for (int i = 0; i < kBlocks; i++) memset(blocks[i], rank + 1, kHeap);
  memset(freed, 1, kHeap);
  free(freed);
  const int first = node_of_cpu();
  if (pages_on(global, kGlobal, first) != kGlobal / kPage - 2)
    fail("pages of the globals at first", pages_on(global, kGlobal, first), kGlobal / kPage - 2);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    int here;
    MPIX_Get_worker(&here, NULL);
    MPIX_Migrate(1 - here);
    const int second = node_of_cpu();
    if (second == first) fail("NUMA node of the other worker", second, 1 - first);
    if (node_of(global + kPage) != first) fail("memory has followed at once", node_of(global + kPage), first);
    const double start = MPI_Wtime();
    for (int next = 0; MPI_Wtime() - start < 60;) { /* some at a time */
      while (next < kBlocks && is_on(blocks[next], kHeap, second)) next++;
      if (next == kBlocks && is_on(global, kGlobal, second) && node_of(local) == second) break;
      compute(2e-3);
      MPI_Sendrecv(local, 1, MPI_CHAR, 1, 0, local + 1, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    local[0] = 1;
    MPI_Send(local, 1, MPI_CHAR, 1, 1, MPI_COMM_WORLD);
    if (node_of(local) != second) fail("NUMA node of the stack", node_of(local), second);
    const int globals = pages_on(global, kGlobal, second);
    if (globals != kGlobal / kPage - 2)
      fail("pages of the globals that have followed", globals, kGlobal / kPage - 2);
    int sum = globals;
    for (int i = 0; i < kBlocks; i++) {
      const int pages = pages_on(blocks[i], kHeap, second);
      if (pages != kHeap / kPage - 2) fail("pages of a block that have followed", pages, kHeap / kPage - 2);
      sum += pages;
      for (size_t at = 0; at < kHeap; at += kPage / 2)
        if (blocks[i][at] != rank + 1) fail("contents", blocks[i][at], rank + 1);
    }
    printf("followed: %d pages in %.3f s\n", sum, MPI_Wtime() - start);
  } else {
    MPI_Status status;
    do {
      MPI_Recv(local, 1, MPI_CHAR, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      if (status.MPI_TAG == 0) MPI_Send(local, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    } while (status.MPI_TAG == 0);
    if (pages_on(global, kGlobal, first) != kGlobal / kPage - 2)
      fail("pages of who stays", pages_on(global, kGlobal, first), kGlobal / kPage - 2);
  }
  for (int i = 0; i < kBlocks; i++) {
    if (blocks[i] == mapped || blocks[i] == moved) {
      munmap(blocks[i], kHeap);
    } else {
      free(blocks[i]);
    }
  }
  MPI_Finalize();
  return 0;
}
