#include "privatize/rank_pid.hpp"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/rank_pid.hpp"
#include "privatize/loader.hpp"
#include "privatize/rank_signals.hpp"
#include "privatize/rank_state.hpp"

namespace tmpi::privatize {
namespace {

bool numbered = true;

/// What /proc says that a process runs; false: nothing, or it is somebody else's.
bool read_executable(pid_t process, char (&path)[256]) noexcept {
  char link[32];
  snprintf(link, sizeof link, "/proc/%d/exe", static_cast<int>(process));
  // By readlink() a rank would be told of its program instead (own_file.hpp).
  const long length = syscall(SYS_readlinkat, AT_FDCWD, link, path, sizeof path - 1);
  if (length <= 0) return false;
  path[length] = '\0';
  return true;
}

/// Another node process of this user's, of whatever job.
bool is_node_process(pid_t process) noexcept {
  char own[256], other[256];
  return read_executable(node_process(), own) && read_executable(process, other) && strcmp(own, other) == 0;
}

/// In which node process of this machine the rank is.
RankInProcess find(pid_t id) noexcept {
  if (!numbered || !is_rank_pid(id)) return {-1, -1};
  if (const int rank = rank_with_pid(id, node_process()); rank_state(rank) != nullptr)
    return {node_process(), rank};
  const int error = errno;
  RankInProcess found{-1, -1};
  for (std::int64_t turn = 0; turn < kMostPidBlocks && found.rank < 0; ++turn) {
    const RankInProcess one = rank_behind(id, turn);
    if (one.process != 0 && one.process != node_process() && is_node_process(one.process)) found = one;
  }
  errno = error;
  return found;
}

}  // namespace

void number_ranks_as_processes(bool number) noexcept {
  numbered = number;
}

pid_t node_process() noexcept {
  // Asked for first when the first rank starts: a node process on another machine is a child of its supervisor.
  static const pid_t process = getpid();
  return process;
}

pid_t pid_of_rank(int rank) noexcept {
  return numbered ? rank_pid(rank, node_process()) : node_process();
}

int rank_of_pid(pid_t id) noexcept {
  const RankInProcess found = find(id);
  return found.process == node_process() ? found.rank : -1;
}

int world_rank_of_pid(pid_t id) noexcept {
  return find(id).rank;
}

pid_t kernel_pid(pid_t id) noexcept {
  const RankInProcess found = find(id);
  return found.rank < 0 ? id : found.process;
}

pid_t kernel_tid(pid_t id) noexcept {
  const RankInProcess found = find(id);
  if (found.rank < 0) return id;
  return found.process != node_process() || in_forked_child() ? found.process : thread_of_rank(found.rank);
}

}  // namespace tmpi::privatize
