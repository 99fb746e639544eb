// Who moved the process where.
#include <limits.h>
#include <unistd.h>

#include <mutex>
#include <string>
#include <utility>

#include "privatize/shim/host/host_functions.h"

namespace tmpi::shim {
namespace {

std::mutex mutex;
std::string place;  // empty: where the job was started
int mover = -1;

}  // namespace

}  // namespace tmpi::shim

using namespace tmpi::shim;

extern "C" const char* tmpi_shim_start_directory() {
  static const std::string start = [] {
    char name[PATH_MAX];
    return std::string(getcwd(name, sizeof name) != nullptr ? name : "");
  }();
  return start.c_str();
}

extern "C" int tmpi_shim_moved(int rank, const char* from, const char* to) {
  std::lock_guard guard(mutex);
  if (place == to) return -1;
  const bool taken_elsewhere = !place.empty() && place != from;
  place = to;
  const int previous = std::exchange(mover, rank);
  return taken_elsewhere ? previous : -1;
}
