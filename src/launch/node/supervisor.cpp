#include "launch/node/supervisor.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "launch/control/control_channel.hpp"
#include "launch/system/descendants.hpp"
#include "launch/system/parent_death.hpp"
#include "launch/system/stuck_exit.hpp"

namespace tmpi::launch {

namespace {

// Milliseconds between looks whether the node process is stuck in its exit: while it is not, and while it may be.
constexpr int kLookNow = 1000, kLookCloser = 100;

// Milliseconds for tmpirun to hear that the node process is gone, and to go first; its machine may be gone itself.
constexpr int kPatience = 1000;

// Waits until it has ended, or has been stuck in its exit for a while. As waitpid() does.
int wait_for(pid_t child) {
  const int handle = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  int status = 0;
  for (ExitWatch exit;;) {
    const pid_t ended = waitpid(child, &status, handle < 0 ? 0 : WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) return status;
    pollfd watched{handle, POLLIN, 0};
    if (poll(&watched, 1, exit.waits() ? kLookCloser : kLookNow) != 0) continue;
    if (const std::optional<int> stuck = exit.look(child, ExitWatch::Clock::now())) return *stuck;
  }
}

}  // namespace

void start_supervised(int channel) {
  const Descendants descendants;
  const pid_t supervisor = getpid();
  const pid_t child = fork();
  if (child < 0) {
    fprintf(stderr, "tmpi-node: cannot start a process: %s\n", strerror(errno));
    _exit(1);
  }
  if (child == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, parent_death_signal());
    if (getppid() != supervisor) _exit(1);
    return;
  }
  setpgid(child, child);
  // The remote shell's channel must end with the child, and signals are for the child.
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO}) close(fd);
  for (const int number : {SIGINT, SIGTERM, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2}) signal(number, SIG_IGN);
  const int status = wait_for(child);
  kill(-child, SIGKILL);
  descendants.end_all();
  if (channel >= 0 && status != 0 && ControlChannel::await_end(channel, kPatience)) _exit(0);
  _exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

}  // namespace tmpi::launch
