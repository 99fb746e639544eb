#include "launch/system/descendants.hpp"

#include <fmt/core.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace tmpi::launch {
namespace {

std::vector<pid_t> children() {
  std::vector<pid_t> pids;
  std::ifstream list(fmt::format("/proc/self/task/{}/children", getpid()));
  for (pid_t pid; list >> pid;) pids.push_back(pid);
  return pids;
}

}  // namespace

Descendants::Descendants() : not_ours_(children()) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void Descendants::end_all() const {
  // Those that left their group (setsid) are our children by now; killing them may hand us theirs.
  for (int round = 0; round < 1000; ++round) {
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    bool any = false;
    for (const pid_t pid : children()) {
      if (std::ranges::find(not_ours_, pid) != not_ours_.end()) continue;
      any = true;
      kill(pid, SIGKILL);
    }
    if (!any) return;
    usleep(1000);
  }
}

}  // namespace tmpi::launch
