/* forks MODE [RANK]: rank RANK (default 1) forks a child that ends in the named way, waits for it, and says how it has ended. Then all ranks
 * exchange messages: what the child has done is no concern of theirs. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int sum;

__attribute__((noinline)) static int recurse_without_end(int depth) {
  volatile char page[512];
  page[depth % 512] = (char)depth;
  sum += page[depth % 512];
  return recurse_without_end(depth + 1) + page[0];
}

static void own_handler(int number) {
  const char text[] = "the child's own handler\n";
  if (write(2, text, sizeof text - 1) < 0) _exit(99);
  _exit(number);
}

static void* fault(void* nowhere) {
  *(volatile int*)nowhere = 1;
  return NULL;
}

static void end(const char* mode, int rank) {
  if (strcmp(mode, "abort") == 0) abort();
  if (strcmp(mode, "segv") == 0) fault((void*)8);
  if (strcmp(mode, "raise") == 0) raise(SIGFPE);
  if (strcmp(mode, "kill") == 0) kill(getpid(), SIGBUS);
  if (strcmp(mode, "term") == 0) kill(getpid(), SIGTERM);
  if (strcmp(mode, "overflow") == 0) recurse_without_end(0);
  if (strcmp(mode, "trap") == 0) __asm__ volatile("int3");
  if (strcmp(mode, "grandchild") == 0) {
    int status = 0;
    const pid_t child = fork();
    if (child == 0) abort();
    waitpid(child, &status, 0);
    exit(WTERMSIG(status));
  }
  if (strcmp(mode, "thread") == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, fault, (void*)8);
    pthread_join(thread, NULL);
  }
  if (strcmp(mode, "handler") == 0) fault((void*)8);
  if (strcmp(mode, "exec") == 0) {
    execlp("sh", "sh", "-c", "kill -SEGV $$", (char*)NULL);
    _exit(98);
  }
  if (strcmp(mode, "mpi-abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
  if (strcmp(mode, "mpi-send") == 0) MPI_Send(&rank, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
  if (strcmp(mode, "mpi-barrier") == 0) MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(mode, "mpi-finalize") == 0) MPI_Finalize();
  if (strcmp(mode, "mpi-init") == 0) MPI_Init(NULL, NULL);
  if (strcmp(mode, "mpi-session") == 0) {
    MPI_Session session;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
  }
  if (strcmp(mode, "mpi-bad") == 0) MPI_Comm_free(NULL);
  if (strcmp(mode, "mpi-asks") == 0) {
    int initialized = 1;
    MPI_Initialized(&initialized);
    exit(initialized ? 97 : 3);
  }
  exit(3);
}

int main(int argc, char** argv) {
  const char* mode = argv[1];
  const int forker = argc > 2 ? atoi(argv[2]) : 1;
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == forker) {
    if (strcmp(mode, "handler") == 0) signal(SIGSEGV, own_handler);
    const pid_t child = strcmp(mode, "vfork") == 0 ? vfork() : fork();
    if (child == 0 && strcmp(mode, "vfork") == 0) raise(SIGSEGV);
    if (child == 0) end(mode, rank);
    int status = 0;
    if (waitpid(child, &status, 0) != child) MPI_Abort(MPI_COMM_WORLD, 9);
    if (WIFSIGNALED(status)) {
      printf("the child was killed by signal %d\n", WTERMSIG(status));
    } else {
      printf("the child ended with code %d\n", WEXITSTATUS(status));
    }
  }
  int got = -1;
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 5, &got, 1, MPI_INT, (rank + size - 1) % size, 5,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (got != (rank + size - 1) % size) MPI_Abort(MPI_COMM_WORLD, 8);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
