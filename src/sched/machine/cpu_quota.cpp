#include "sched/machine/cpu_quota.hpp"

#include <algorithm>
#include <fstream>
#include <limits>

namespace tmpi::sched {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

/// "max 100000" or "150000 100000".
double read_v2(const std::string& directory) {
  std::ifstream file(directory + "/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return kNoLimit;
  return std::strtod(quota.c_str(), nullptr) / period;
}

double read_v1(const std::string& directory) {
  std::ifstream quota_file(directory + "/cpu.cfs_quota_us");
  std::ifstream period_file(directory + "/cpu.cfs_period_us");
  double quota = 0, period = 0;
  if (!(quota_file >> quota) || !(period_file >> period) || quota <= 0 || period <= 0) return kNoLimit;
  return quota / period;
}

/// The tightest limit in root/path, root/path/.., ..., root. A group that is not visible here (container)
/// counts as unlimited.
template <class Read>
double tightest(const std::string& root, std::string path, Read read) {
  double limit = kNoLimit;
  while (true) {
    limit = std::min(limit, read(root + path));
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return limit;
    path.resize(slash);
  }
}

}  // namespace

double cgroup_cpu_quota(const std::string& self, const std::string& root) {
  double limit = kNoLimit;
  std::ifstream groups(self);
  // "0::/user.slice/a" (version 2) or "4:cpu,cpuacct:/docker/b" (version 1).
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string path = line.substr(second + 1);
    if (controllers == ",,") {
      limit = std::min(limit, tightest(root, path, read_v2));
    } else if (controllers.find(",cpu,") != std::string::npos) {
      limit = std::min(limit, tightest(root + "/cpu", path, read_v1));
      limit = std::min(limit, tightest(root + "/cpu,cpuacct", path, read_v1));
    }
  }
  return limit;
}

}  // namespace tmpi::sched
