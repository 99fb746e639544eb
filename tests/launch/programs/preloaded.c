/* A profiling library as it is preloaded: counts what its rank sends. With -DNEXT it finds MPI's functions by dlsym. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static int sends, rank = -1, constructed;

__attribute__((constructor)) static void construct(void) {
  ++constructed;
}

#ifdef NEXT
#define ORIGINAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#else
#define ORIGINAL(name) P##name
#endif

int MPI_Init(int* argc, char*** argv) {
  const int code = ORIGINAL(MPI_Init)(argc, argv);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return code;
}

int MPI_Send(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  ++sends;
  return ORIGINAL(MPI_Send)(buffer, count, type, to, tag, comm);
}

#ifdef BOTH /* a tool that stands in front of both names, as Darshan does */
int PMPI_Send(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  return ((__typeof__(&MPI_Send))dlsym(RTLD_NEXT, "PMPI_Send"))(buffer, count, type, to, tag, comm);
}
#endif

int MPI_Finalize(void) {
  printf("preloaded: rank %d has sent %d, constructed %d\n", rank, sends, constructed);
  return ORIGINAL(MPI_Finalize)();
}
