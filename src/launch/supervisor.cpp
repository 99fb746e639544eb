#include "launch/supervisor.hpp"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/descendants.hpp"
#include "launch/parent_death.hpp"

namespace tmpi::launch {

void start_supervised() {
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
  _exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

}  // namespace tmpi::launch
