/* own_stack: what a rank, and a thread of it, are told about their stacks. Prints the size of the rank's. */
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

extern void* __libc_stack_end;
static int rank;

#define CHECK(what)                                                                                \
  do {                                                                                             \
    if (!(what)) printf("rank %d, line %d: %s is wrong\n", rank, __LINE__, #what), fflush(stdout); \
  } while (0)

static size_t size_of_stack(pthread_t thread, const void* local, int lies_there) {
  pthread_attr_t attributes;
  void* base = 0;
  size_t size = 0;
  CHECK(pthread_getattr_np(thread, &attributes) == 0);
  CHECK(pthread_attr_getstack(&attributes, &base, &size) == 0);
  CHECK(((char*)local >= (char*)base && (char*)local < (char*)base + size) == lies_there);
  pthread_attr_destroy(&attributes);
  return size;
}

struct Main {
  pthread_t thread;
  const void* local;
};

static void* look(void* argument) {
  const struct Main* first = argument;
  int local;
  size_of_stack(pthread_self(), &local, 1);
  size_of_stack(pthread_self(), first->local, 0);
  size_of_stack(first->thread, first->local, 1);
  return 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int local;
  const size_t size = size_of_stack(pthread_self(), &local, 1);
  CHECK((char*)__libc_stack_end > (char*)&local && (char*)__libc_stack_end - (char*)&local < 1 << 20);
  struct rlimit limit;
  CHECK(getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur == size);
  const struct Main first = {pthread_self(), &local};
  pthread_t thread;
  pthread_create(&thread, 0, look, (void*)&first);
  pthread_join(thread, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("%zu\n", size >> 20);
  MPI_Finalize();
  return 0;
}
