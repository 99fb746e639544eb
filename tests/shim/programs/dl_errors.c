/* What dlerror says is the rank's, whoever has run on its worker meanwhile. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, failures;

static void expect(int good, const char* what) {
  if (good) return;
  ++failures;
  fprintf(stderr, "rank %d: %s\n", rank, what);
}

int main(int argc, char** argv) {
  char name[64];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  void* const system_library = dlopen("libc.so.6", RTLD_NOW);
  void* const handles[] = {system_library, RTLD_DEFAULT};
  for (int i = 0; i < 2; ++i) {
    snprintf(name, sizeof name, "no_such_function_%d_%d", rank, i);
    expect(dlsym(handles[i], name) == NULL, "found what is not there");
    MPI_Barrier(MPI_COMM_WORLD); /* the others fail meanwhile */
    const char* text = dlerror();
    expect(text != NULL && strstr(text, name) != NULL, text != NULL ? text : "nothing is said of a symbol");
    expect(dlerror() == NULL, "said twice");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  snprintf(name, sizeof name, "libnowhere%d.so", rank);
  if (rank % 2 == 0) expect(dlopen(name, RTLD_NOW) == NULL, "opened what is not there");
  MPI_Barrier(MPI_COMM_WORLD);
  const char* text = dlerror();
  expect(rank % 2 == 0 ? text != NULL && strstr(text, name) != NULL : text == NULL,
         text != NULL ? text : "nothing is said of a library");
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return failures != 0;
}
