/* What only later versions of glibc have is a rank's own as well; as much of it as this machine's has. Each rank says
 * "rank R: good". */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank;

#define CHECK(condition)                                                                  \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      printf("rank %d, line %d: not %s (errno %d)\n", rank, __LINE__, #condition, errno); \
      fflush(stdout);                                                                     \
      MPI_Abort(MPI_COMM_WORLD, 3);                                                       \
    }                                                                                     \
  } while (0)

/* Each thread's area of restartable sequences, from which sched_getcpu() reads, is the worker's. */
static void processors(void) {
  const int processor = sched_getcpu();
  CHECK(processor >= 0 && processor < CPU_SETSIZE);
}

/* Under C23, and with _GNU_SOURCE from glibc 2.38 on, headers give scanf and strtol other names. */
static void numbers(void) {
  char* word = NULL;
  int number = 0;
  CHECK(sscanf("0x1f word", "%i %ms", &number, &word) == 2 && number == 31 && strcmp(word, "word") == 0);
  free(word);
  CHECK(strtol("-17", NULL, 0) == -17);
}

#if __GLIBC_PREREQ(2, 39)
static void children(void) {
  char code[32];
  snprintf(code, sizeof code, "exit %d", 10 + rank);
  char* const words[] = {"sh", "-c", code, NULL};
  extern char** environ;
  for (int search = 0; search < 2; ++search) {
    int child = -1, status = 0;
    CHECK((search ? pidfd_spawnp(&child, "sh", NULL, NULL, words, environ)
                  : pidfd_spawn(&child, "/bin/sh", NULL, NULL, words, environ)) == 0);
    const pid_t id = pidfd_getpid(child);
    CHECK(id > 0 && waitpid(id, &status, 0) == id);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 10 + rank);
    CHECK(waitpid(-1, &status, 0) < 0 && errno == ECHILD); /* others' are not this rank's */
    CHECK(close(child) == 0);
  }
  const int own = pidfd_open(getpid(), 0);
  CHECK(own >= 0 && pidfd_getpid(own) == getpid() && close(own) == 0);
}
#endif

#if __GLIBC_PREREQ(2, 41)
static void scheduling(void) {
  struct sched_attr attributes;
  CHECK(sched_getattr(getpid(), &attributes, sizeof attributes, 0) == 0);
  CHECK((int)attributes.sched_policy == sched_getscheduler(getpid()));
}
#endif

#if __GLIBC_PREREQ(2, 42)
static void threads(void) {
  CHECK(pthread_gettid_np(pthread_self()) == gettid());
}
#endif

#if __GLIBC_PREREQ(2, 43)
static void files(void) {
  const struct open_how how = {.flags = O_RDONLY};
  struct stat opened, named;
  const int file = openat2(AT_FDCWD, "/proc/self/exe", &how, sizeof how);
  CHECK(file >= 3 && fstat(file, &opened) == 0 && stat("/proc/self/exe", &named) == 0);
  CHECK(opened.st_ino == named.st_ino && close(file) == 0);
}

static void memory(void) {
  enum { kBytes = 1 << 20 };
  char* volatile block = malloc(kBytes);
  CHECK(block != NULL);
  memset(block, rank, kBytes);
  free_sized(block, kBytes);
  block = aligned_alloc(4096, kBytes);
  CHECK(block != NULL);
  free_aligned_sized(block, 4096, kBytes);
}
#endif

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  processors();
  numbers();
#if __GLIBC_PREREQ(2, 39)
  children();
#endif
#if __GLIBC_PREREQ(2, 41)
  scheduling();
#endif
#if __GLIBC_PREREQ(2, 42)
  threads();
#endif
#if __GLIBC_PREREQ(2, 43)
  files();
  memory();
#endif
  printf("rank %d: good\n", rank);
  MPI_Finalize();
  return 0;
}
