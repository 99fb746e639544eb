// libc's positions in its databases, of which there is one for the process: taken to where a rank is.

#include <mutex>

#include "privatize/shim/host/host_functions.h"

namespace {

/// Where libc is in a database.
struct Position {
  int rank = -1;  // whose it is; -1: nobody's
  long entries = 0;
};

std::mutex mutex;
Position positions[TMPI_DATABASES];

}  // namespace

extern "C" int tmpi_shim_next_entry(int rank, TmpiDatabase database, long position, void (*rewind)(void),
                                    int (*get)(void*), void* context) {
  const std::lock_guard guard(mutex);
  Position& libc = positions[database];
  if (libc.rank != rank || libc.entries != position) {
    rewind();
    libc = {rank, 0};
  }
  int error = 0;
  while (error == 0 && libc.entries <= position) {
    error = get(context);
    ++libc.entries;
  }
  if (error != 0) libc = {};
  return error;
}
