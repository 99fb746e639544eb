// The working directory belongs to the process. So that ranks which all do chdir("run") end up in one place
// instead of in run/run/run, each rank's relative paths start from where *it* believes to be; a rank that
// pulls the process away from another rank is told.
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <utility>

#include "privatize/shim/host/host_functions.h"
#include "privatize/shim/host/libc_originals.hpp"
#include "privatize/shim/lock.hpp"
#include "privatize/shim/process.hpp"
#include "privatize/shim/shim.h"

namespace tmpi::shim {
namespace {

Lock lock;
char* own_place;  // absolute; null: the rank has not moved
bool warned;

/// The process is somewhere new because of this rank.
void moved() noexcept {
  char* place = tmpi_libc.getcwd(nullptr, 0);
  if (place == nullptr) return;
  char* from;
  {
    Locked locked(lock);
    from = std::exchange(own_place, place);
  }
  const int other =
      tmpi_shim_moved(tmpi_image_rank, from != nullptr ? from : tmpi_shim_start_directory(), place);
  free(from);
  if (other < 0 || warned) return;
  warned = true;
  fprintf(stderr,
          "tmpi: rank %d changed the working directory to %s, rank %d had chosen another one. The ranks of a "
          "node share one working\n"
          "directory: relative file names of all of them now start at %s. Use absolute names where the ranks "
          "differ.\n",
          tmpi_image_rank, place, other, place);
}

}  // namespace

extern "C" {

int chdir(const char* path) noexcept {
  if (in_forked_child()) return tmpi_libc.chdir(path);
  const char* start = tmpi_shim_start_directory();
  char absolute[PATH_MAX];
  if (path[0] != '/') {
    const int length =
        snprintf(absolute, sizeof absolute, "%s/%s", own_place != nullptr ? own_place : start, path);
    if (length >= static_cast<int>(sizeof absolute)) {
      errno = ENAMETOOLONG;
      return -1;
    }
    path = absolute;
  }
  const int result = tmpi_libc.chdir(path);
  if (result == 0) moved();
  return result;
}

int fchdir(int fd) noexcept {
  if (!in_forked_child()) tmpi_shim_start_directory();  // remembered before anybody moves
  const int result = tmpi_libc.fchdir(fd);
  if (result == 0 && !in_forked_child()) moved();
  return result;
}

}  // extern "C"

}  // namespace tmpi::shim
