/* misbehave MODE [RANK [CODE]]: rank RANK (default 1) breaks in the named way while all the others wait for
 * it in a barrier. */
#include <assert.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static volatile int zero = 0;
static volatile int depth_sum = 0;

__attribute__((noinline)) static int recurse_without_end(int depth) {
  volatile char page[512];
  page[depth % 512] = (char)depth;
  depth_sum += page[depth % 512];
  return recurse_without_end(depth + 1) + page[0];
}

__attribute__((noinline)) void write_through_null(void) {
  volatile int* nowhere = (volatile int*)8;
  *nowhere = 1;
  depth_sum++;
}

__attribute__((noinline)) static void call_wild_pointer(void) {
  void (*volatile function)(void) = 0;
  function();
}

static void smash_frame(void) {
  __asm__ volatile("mov $16, %%rbp\n\tmov $24, %%rsp\n\tpush %%rax" ::: "memory");
}

__attribute__((noinline)) static void fail(const char* mode, int code) {
  if (strcmp(mode, "abort-mpi") == 0) MPI_Abort(MPI_COMM_WORLD, code);
  if (strcmp(mode, "segv") == 0) write_through_null();
  if (strcmp(mode, "fpe") == 0) zero = (code + 1) / zero;
  if (strcmp(mode, "ill") == 0) __builtin_trap();
  if (strcmp(mode, "wild") == 0) call_wild_pointer();
  if (strcmp(mode, "smash") == 0) smash_frame();
  if (strcmp(mode, "overflow") == 0) recurse_without_end(0);
  if (strcmp(mode, "abort") == 0) abort();
  if (strcmp(mode, "assert") == 0) assert(zero == 1);
  if (strcmp(mode, "raise") == 0) raise(SIGSEGV);
  if (strcmp(mode, "exit") == 0) exit(code);
  if (strcmp(mode, "_exit") == 0) _exit(code);
  if (strcmp(mode, "close-all") == 0) {
    for (int fd = 3; fd < 64; ++fd) assert(close(fd) == -1);
  }
  if (strcmp(mode, "shut-down") == 0) {
    shutdown(3, SHUT_RDWR);
    sleep(1);
  }
  if (strcmp(mode, "mrecv") == 0) {
    MPI_Message none = MPI_MESSAGE_NULL;
    MPI_Mrecv(&code, 1, MPI_INT, &none, MPI_STATUS_IGNORE);
  }
  if (strcmp(mode, "bad-rank") == 0) MPI_Send(&code, 1, MPI_INT, 1 << 20, 0, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
  const char* mode = argv[1];
  const int victim = argc > 2 ? atoi(argv[2]) : 1;
  const int code = argc > 3 ? atoi(argv[3]) : 5;
  const char* me = getenv("TMPI_COMM_WORLD_RANK");
  if (strcmp(mode, "before-init") == 0 && atoi(me) == victim) return code;
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("rank %d is here\n", rank);
  if (rank == victim) {
    if (strcmp(mode, "return") == 0) return code;
    if (strcmp(mode, "partial") == 0) {
      printf("half a line");
      fflush(stdout);
      MPI_Abort(MPI_COMM_WORLD, code);
    }
    fail(mode, code);
  }
  if (strcmp(mode, "hang") == 0)
    MPI_Recv(&rank, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (strcmp(mode, "child") == 0) {
    if (rank == victim && system("sleep 300 & (setsid sleep 301 &); echo started") != 0) return 9;
    MPI_Recv(&rank, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (strcmp(mode, "fork") == 0) {
    if (rank == victim && fork() == 0) {
      for (;;) pause();
    }
    MPI_Recv(&rank, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (strcmp(mode, "spin") == 0) {
    for (;;) depth_sum++;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(mode, "survivors") == 0 && rank != victim) MPI_Barrier(MPI_COMM_SELF);
  MPI_Finalize();
  if (strcmp(mode, "after") == 0 && rank >= victim) return code + rank - victim;
  return 0;
}
