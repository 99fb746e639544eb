// With -DLIBRARY: a library in C++ that calls its caller back in the middle of an exception. Else a program whose ranks wait for each other
// there; its argument: how many ranks have the library together.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

extern "C" {
int in_catch(int thrown, void (*callback)());
int in_unwinding(int thrown, void (*callback)());
int calls();
}

#ifdef LIBRARY

namespace {
int all_calls = 0;
struct AtEnd {
  void (*callback)();
  int* uncaught;
  ~AtEnd() {
    callback();
    *uncaught = std::uncaught_exceptions();
  }
};
}  // namespace

int in_catch(int thrown, void (*callback)()) {
  ++all_calls;
  try {
    throw thrown;
  } catch (int) {
    callback();
    try {
      throw;
    } catch (int again) {
      return again;
    }
  }
}

int in_unwinding(int thrown, void (*callback)()) {
  int uncaught = 0;
  try {
    const AtEnd at_end{callback, &uncaught};
    throw thrown;
  } catch (int caught) {
    return caught == thrown && std::uncaught_exceptions() == 0 ? uncaught : -1;
  }
}

int calls() {
  return all_calls;
}

#else

static void wait_for_others() {
  MPI_Barrier(MPI_COMM_WORLD);
}

static void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int round = 0; round < 3; ++round) {
    check(in_catch(rank + round * size, wait_for_others) == rank + round * size,
          "another rank's exception was caught");
    // The others are somewhere else: not all in the same state.
    if (rank % 2 == 0) check(in_unwinding(rank, wait_for_others) == 1, "other exceptions were counted");
    if (rank % 2 == 1) wait_for_others();
  }
  check(calls() == 3 * std::atoi(argv[1]), "the library is not whose it should be");
  MPI_Finalize();
  return 0;
}

#endif
