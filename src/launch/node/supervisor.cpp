#include "launch/node/supervisor.hpp"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/system/descendants.hpp"
#include "launch/system/parent_death.hpp"

namespace tmpi::launch {

namespace {

bool has_ended(int channel) {
  char unread[4096];
  ssize_t got;
  do got = recv(channel, unread, sizeof(unread), MSG_DONTWAIT);
  while (got > 0);
  return got == 0 || (errno != EAGAIN && errno != EINTR);
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
  int status = 0;
  while (waitpid(child, &status, 0) != child && errno == EINTR) {
  }
  kill(-child, SIGKILL);
  descendants.end_all();
  if (channel >= 0 && has_ended(channel)) _exit(0);
  _exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

}  // namespace tmpi::launch
