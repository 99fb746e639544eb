#include "net/verbs/adapters.hpp"

#include <dlfcn.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <vector>

namespace tmpi::net::verbs {
namespace {

namespace fs = std::filesystem;

constexpr unsigned long long kEnoughToLock = 64ull << 20;

std::string first_line(const fs::path& file) {
  std::string line;
  std::ifstream stream(file);
  std::getline(stream, line);
  return line;
}

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code none;
  for (fs::directory_iterator each(folder, none), end; !none && each != end; each.increment(none))
    found.push_back(each->path());
  return found;
}

// A GID that other hosts can reach: not link-local, not empty.
bool is_routable(std::string_view gid) {
  return !gid.empty() && !gid.starts_with("fe80:") && gid != "0000:0000:0000:0000:0000:0000:0000:0000";
}

bool has_routable_roce(const fs::path& port) {
  for (const fs::path& type : entries(port / "gid_attrs" / "types"))
    if (first_line(type) == "RoCE v2" && is_routable(first_line(port / "gids" / type.filename())))
      return true;
  return false;
}

// /dev/infiniband/uverbsN of the adapter may be opened.
bool may_open(const fs::path& adapter) {
  for (const fs::path& device : entries(adapter.parent_path().parent_path() / "infiniband_verbs")) {
    if (first_line(device / "ibdev") != adapter.filename()) continue;
    return access(("/dev/infiniband/" + device.filename().string()).c_str(), R_OK | W_OK) == 0;
  }
  return false;
}

}  // namespace

int numa_node_of(std::string_view adapter, const std::string& folder) {
  int node = -1;
  std::ifstream(fs::path(folder) / adapter / "device" / "numa_node") >> node;
  return node;
}

cpu_set_t processors_near(std::string_view adapter, const std::string& folder) {
  cpu_set_t near;
  CPU_ZERO(&near);
  const std::string list = first_line(fs::path(folder) / adapter / "device" / "local_cpulist");
  const char* at = list.data();
  const char* const end = at + list.size();
  while (at < end) {  // "0-15,32-47"
    int first = 0, last = 0;
    auto read = std::from_chars(at, end, first);
    if (read.ec != std::errc()) break;
    last = first;
    if (read.ptr < end && *read.ptr == '-') read = std::from_chars(read.ptr + 1, end, last);
    if (read.ec != std::errc()) break;
    for (int cpu = first; cpu <= last && cpu < CPU_SETSIZE; ++cpu) CPU_SET(cpu, &near);
    at = read.ptr + 1;
  }
  return near;
}

int near_processors(std::string_view adapter, const std::string& folder) {
  cpu_set_t mine;
  if (sched_getaffinity(0, sizeof mine, &mine) != 0) return 0;
  const cpu_set_t near = processors_near(adapter, folder);
  cpu_set_t both;
  CPU_AND(&both, &mine, &near);
  return CPU_COUNT(&both);
}

unsigned long long lockable_bytes() {
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
  return limit.rlim_cur;
}

std::string lockable_text() {
  const unsigned long long bytes = lockable_bytes();
  return bytes == UINT64_MAX ? "unlimited" : std::to_string(bytes >> 10) + " KiB";
}

std::string why_not_here(const std::string& folder) {
  const std::vector<fs::path> adapters = entries(folder);
  if (adapters.empty()) return "there is no RDMA adapter";
  std::string why = "no port of an RDMA adapter is active";
  for (const fs::path& adapter : adapters) {
    for (const fs::path& port : entries(adapter / "ports")) {
      if (!first_line(port / "state").starts_with("4:")) continue;
      if (first_line(port / "link_layer") != "InfiniBand" && !has_routable_roce(port)) {
        why = adapter.filename().string() + " has no RoCE v2 address that other hosts can reach";
        continue;
      }
      if (!may_open(adapter)) {
        why = "this user may not open " + adapter.filename().string();
        continue;
      }
      if (geteuid() != 0 && lockable_bytes() < kEnoughToLock)
        return "no more than " + lockable_text() + " of memory may be locked (`ulimit -l`)";
      if (dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_LOCAL) == nullptr)
        return "libibverbs.so.1 is not installed";
      return {};
    }
  }
  return why;
}

}  // namespace tmpi::net::verbs
