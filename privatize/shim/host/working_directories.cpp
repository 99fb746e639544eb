// Who moved the process where.
#include <limits.h>
#include <unistd.h>

#include <mutex>
#include <string>

#pragma GCC visibility push(default)
#include "privatize/shim/host/services.h"
#pragma GCC visibility pop

namespace tmpi::shim {
namespace {

std::mutex mutex;
std::string place;  // empty: where the job was started
int mover = -1;

}  // namespace

extern "C" const char* tmpi_shim_start_directory() {
  static const std::string start = [] {
    char name[PATH_MAX];
    return std::string(getcwd(name, sizeof name) != nullptr ? name : "");
  }();
  return start.c_str();
}

extern "C" int tmpi_shim_moved(int rank, const char* directory) {
  std::lock_guard guard(mutex);
  if (place == directory) return -1;
  const int previous = mover;
  place = directory;
  mover = rank;
  return previous == rank ? -1 : previous;
}

}  // namespace tmpi::shim
