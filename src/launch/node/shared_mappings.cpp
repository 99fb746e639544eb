#include "launch/node/shared_mappings.hpp"

#include <fstream>
#include <sstream>
#include <string>

namespace tmpi::launch {
namespace {

// "7f0c1000-7f0c2000 rw-s 00000000 00:01 1041 /dev/shm/flag". The kernel's own objects (counters) and what is
// installed (libc's caches) tell nobody anything, nor does the loader's own memory.
bool is_shared(const std::string& line) {
  std::istringstream words(line);
  std::string range, access, offset, device, inode, path;
  words >> range >> access >> offset >> device >> inode >> path;
  return access.size() == 4 && access[3] == 's' && inode != "0" && !path.starts_with("anon_inode:") &&
         !path.starts_with("/usr/") && !path.starts_with("/memfd:tmpi-");
}

}  // namespace

bool shares_memory() {
  std::ifstream maps("/proc/self/maps");
  if (!maps) return true;
  for (std::string line; std::getline(maps, line);) {
    if (is_shared(line)) return true;
  }
  return false;
}

}  // namespace tmpi::launch
