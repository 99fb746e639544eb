#include "launch/system/descendants.hpp"

#include <dirent.h>
#include <fmt/core.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>

#include "launch/system/stuck_exit.hpp"

namespace tmpi::launch {
namespace {

// A process that is stuck is left behind: it has been killed, and has done nothing for so long.
constexpr std::chrono::milliseconds kPatience{300};

std::vector<pid_t> children_of(pid_t process, pid_t thread) {
  std::vector<pid_t> pids;
  std::ifstream list(fmt::format("/proc/{}/task/{}/children", process, thread));
  for (pid_t pid; list >> pid;) pids.push_back(pid);
  return pids;
}

// Those of this process, which forks in its first thread only.
std::vector<pid_t> children() {
  return children_of(getpid(), getpid());
}

// They become ours only when the process is done with its exit, which may take long.
void kill_children_of(pid_t process) {
  DIR* const threads = opendir(fmt::format("/proc/{}/task", process).c_str());
  if (threads == nullptr) return;
  while (const dirent* const entry = readdir(threads)) {
    for (const pid_t child : children_of(process, std::atoi(entry->d_name))) kill(child, SIGKILL);
  }
  closedir(threads);
}

}  // namespace

Descendants::Descendants() : not_ours_(children()) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void Descendants::end_all() const {
  // Those that left their group (setsid) are our children by now; killing them may hand us theirs.
  std::map<pid_t, ExitWatch> exits;
  for (int round = 0; round < 1000; ++round) {
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    bool any = false;
    for (const pid_t pid : children()) {
      if (std::ranges::find(not_ours_, pid) != not_ours_.end()) continue;
      ExitWatch& exit = exits.try_emplace(pid, kPatience).first->second;
      const bool stuck = exit.look(pid, ExitWatch::Clock::now()).has_value();
      if (exit.waits()) kill_children_of(pid);
      if (stuck) continue;
      any = true;
      kill(pid, SIGKILL);
    }
    if (!any) return;
    usleep(1000);
  }
}

}  // namespace tmpi::launch
