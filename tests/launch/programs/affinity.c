/* affinity [all]: every rank chooses core number LOCAL RANK for itself, as hybrid codes do, and checks what it is told
 * and what its threads inherit; rank 0 says where its worker really is, before and after. With "all" each may use all
 * cores at first. */
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int rank, cores;

#define CHECK(what)                                                                           \
  do {                                                                                        \
    if (!(what))                                                                              \
      printf("rank %d, line %d: %s is wrong (%s)\n", rank, __LINE__, #what, strerror(errno)), \
          fflush(stdout);                                                                     \
  } while (0)

static cpu_set_t one(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  return set;
}
static int is(const cpu_set_t* set, int core) {
  return CPU_COUNT(set) == 1 && CPU_ISSET(core, set);
}

static int really(void) { /* how many cores the kernel lets this thread use, and which is the first */
  FILE* status = fopen("/proc/thread-self/status", "r");
  char line[4096], *list = 0;
  while (!list && fgets(line, sizeof line, status))
    if (strncmp(line, "Cpus_allowed_list:", 18) == 0) list = line + 18;
  fclose(status);
  int count = 0;
  for (char* at = list; at && *at != 0; at = strchr(at, ',') ? strchr(at, ',') + 1 : 0) {
    int from, to;
    const int words = sscanf(at, "%d-%d", &from, &to);
    count += words == 2 ? to - from + 1 : words;
  }
  return count * 1000 + (list ? atoi(list) : -1);
}

static int is_by_number(int core) { /* as libomp asks */
  cpu_set_t set;
  CPU_ZERO(&set);
  return syscall(SYS_sched_getaffinity, 0, sizeof set, &set) > 0 && is(&set, core);
}

static void* child(void* wanted) {
  CHECK(really() == 1000 + *(int*)wanted);
  const int other = (*(int*)wanted + 1) % cores;
  cpu_set_t set = one(other);
  CHECK(pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0);
  CHECK(really() == 1000 + other);
  CHECK(pthread_getaffinity_np(pthread_self(), sizeof set, &set) == 0 && is(&set, other));
  CHECK(sched_getaffinity(getpid(), sizeof set, &set) == 0 && is(&set, *(int*)wanted));
  return 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  cores = (int)sysconf(_SC_NPROCESSORS_ONLN);
  const int before = really();
  cpu_set_t set;
  CHECK(sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) == (argc > 1 ? cores : 1));
  const int core = rank % cores;
  set = one(core);
  if (rank % 4 == 3) CHECK(syscall(SYS_sched_setaffinity, 0, sizeof set, &set) == 0);
  if (rank % 4 == 0) CHECK(sched_setaffinity(0, sizeof set, &set) == 0);
  if (rank % 4 == 1) CHECK(pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0);
  if (rank % 4 == 2) CHECK(sched_setaffinity(getpid(), sizeof set, &set) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(sched_getaffinity(0, sizeof set, &set) == 0 && is(&set, core));
  CHECK(pthread_getaffinity_np(pthread_self(), sizeof set, &set) == 0 && is(&set, core));
  CHECK(is_by_number(core));
  CHECK(really() == before);
  set = one(CPU_SETSIZE - 1);
  CHECK(sched_setaffinity(0, sizeof set, &set) == -1 && errno == EINVAL);
  CHECK(sched_getaffinity(0, sizeof set, &set) == 0 && is(&set, core));
  pthread_attr_t attributes;
  CHECK(pthread_getattr_np(pthread_self(), &attributes) == 0);
  CHECK(pthread_attr_getaffinity_np(&attributes, sizeof set, &set) == 0 && is(&set, core));
  pthread_attr_destroy(&attributes);
  pthread_t thread;
  int wanted = core;
  pthread_create(&thread, 0, child, &wanted);
  pthread_join(thread, 0);
  wanted = (core + 1) % cores; /* named by attributes: those count */
  pthread_attr_init(&attributes);
  set = one(wanted);
  pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
  cpu_set_t own = one(wanted);
  CHECK(sched_setaffinity(0, sizeof own, &own) == 0);
  pthread_create(&thread, &attributes, child, &wanted);
  pthread_join(thread, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("done\n");
  MPI_Finalize();
  return 0;
}
