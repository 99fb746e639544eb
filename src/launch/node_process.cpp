#include "launch/node_process.hpp"

#include <errno.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "launch/parent_death.hpp"

namespace tmpi::launch {

namespace {

constexpr int kChildControl = 3;  // descriptor number of the control channel in the node process

std::vector<pid_t> children() {
  std::vector<pid_t> pids;
  std::ifstream list(fmt::format("/proc/self/task/{}/children", getpid()));
  for (pid_t pid; list >> pid;) pids.push_back(pid);
  return pids;
}

/// In the child, between fork and exec: only async-signal-safe calls.
[[noreturn]] void become_node(const char* executable, int control, int out, int err, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, parent_death_signal());
  if (getppid() != parent) _exit(1);  // tmpirun died before prctl
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  const int null = open("/dev/null", O_RDONLY);
  // The control descriptor may itself be 3 or one of 0..2's sources: move everything out of the way first.
  const int safe_control = fcntl(control, F_DUPFD, 10);
  const int safe_out = fcntl(out, F_DUPFD, 10);
  const int safe_err = fcntl(err, F_DUPFD, 10);
  dup2(null, 0);
  dup2(safe_out, 1);
  dup2(safe_err, 2);
  dup2(safe_control, kChildControl);
  for (int fd : {safe_control, safe_out, safe_err}) close(fd);
  if (null > kChildControl) close(null);
  execl(executable, executable, "--control", "3", static_cast<char*>(nullptr));
  _exit(127);
}

}  // namespace

Result<NodeProcess> NodeProcess::start(const std::string& executable) {
  NodeProcess node;
  int control[2];
  int out[2];
  int err[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control) != 0 || pipe2(out, O_CLOEXEC) != 0 ||
      pipe2(err, O_CLOEXEC) != 0) {
    return Failure{fmt::format("cannot create the channels to the node process: {}", strerror(errno))};
  }
  prctl(PR_SET_CHILD_SUBREAPER,
        1);  // orphans of the node process become our children, so that reap_all finds them
  node.not_ours_ = children();
  const pid_t parent = getpid();
  node.pid_ = fork();
  if (node.pid_ < 0) return Failure{fmt::format("cannot start the node process: {}", strerror(errno))};
  if (node.pid_ == 0) become_node(executable.c_str(), control[1], out[1], err[1], parent);
  setpgid(node.pid_, node.pid_);  // both sides, so that the group exists whoever comes first
  close(control[1]);
  close(out[1]);
  close(err[1]);
  node.control_ = control[0];
  node.output_[0] = out[0];
  node.output_[1] = err[0];
  for (int fd : {node.control_, node.output_[0], node.output_[1]}) fcntl(fd, F_SETFL, O_NONBLOCK);
  return node;
}

NodeProcess::NodeProcess(NodeProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      control_(std::exchange(other.control_, -1)),
      output_{std::exchange(other.output_[0], -1), std::exchange(other.output_[1], -1)},
      reaped_(other.reaped_),
      status_(other.status_),
      not_ours_(std::move(other.not_ours_)) {}

NodeProcess::~NodeProcess() {
  if (pid_ > 0 && !reaped_) {
    signal_group(SIGKILL);
    waitpid(pid_, &status_, 0);
  }
  for (int fd : {control_, output_[0], output_[1]}) {
    if (fd >= 0) close(fd);
  }
}

void NodeProcess::signal_group(int signal) const {
  if (pid_ > 0) kill(-pid_, signal);
}

bool NodeProcess::reap() {
  if (!reaped_ && waitpid(pid_, &status_, WNOHANG) == pid_) reaped_ = true;
  return reaped_;
}

void NodeProcess::reap_all() {
  signal_group(SIGKILL);
  // Descendants that left the group (setsid) are our children by now; killing them may hand us theirs.
  for (int round = 0; round < 1000; ++round) {
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    bool any = false;
    for (pid_t pid : children()) {
      if (std::ranges::find(not_ours_, pid) != not_ours_.end()) continue;
      any = true;
      kill(pid, SIGKILL);
    }
    if (!any) return;
    usleep(1000);
  }
}

}  // namespace tmpi::launch
