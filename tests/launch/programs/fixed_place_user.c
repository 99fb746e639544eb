// Uses libfixed_place.so, linked or opened (argv[1]): each rank has variables of its own there, on whatever worker.
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#ifdef PLACED
static _Thread_local int placed = 5;  // makes a thread pointer of each rank's own
#else
static int placed = 5;
extern char* place_of_caller(void);
#endif

static char* (*library_of(const char* path))(void) {
#ifndef PLACED
  if (path == NULL) return &place_of_caller;
#endif
  void* const library = dlopen(path, RTLD_NOW);
  if (library == NULL) fprintf(stderr, "%s\n", dlerror());
  return library == NULL ? NULL : (char* (*)(void))dlsym(library, "place_of_caller");
}

int main(int argc, char** argv) {
  int rank, failures = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char* (*const place)(void) = library_of(argv[1]);
  if (place == NULL) return 1;
  char text[64];
  failures += strcmp(place(), "fixed") != 0;
  snprintf(text, sizeof text, "of rank %d", rank);
  strcpy(place() + 8000, text);
  placed = rank;
  for (int round = 0; round < 20; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    failures += strcmp(place() + 8000, text) != 0 || placed != rank;
  }
  printf("rank %d: %d failures\n", rank, failures);
  MPI_Finalize();
  return failures != 0;
}
