#include "launch/launcher/node_process.hpp"

#include <errno.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "launch/system/parent_death.hpp"
#include "launch/system/program_path.hpp"

namespace tmpi::launch {

namespace {

constexpr int kChildControl = 3;  // descriptor number of the control channel in the node process

/// The child's ends.
struct Ends {
  NodeProcess::Place place;
  int control;
  int out;  // -1 if the channel takes its place
  int err;
};

/// In the child, between fork and exec: only async-signal-safe calls.
[[noreturn]] void exec_child(char* const* command, const Ends& ends, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, parent_death_signal());
  if (getppid() != parent) _exit(1);  // tmpirun died before prctl
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  const bool standard = ends.place == NodeProcess::Place::kStandard;
  // The descriptors may themselves be among 0..3: move everything out of the way first.
  const int control = fcntl(ends.control, F_DUPFD_CLOEXEC, 10);
  const int in = standard ? control : open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int out = standard ? control : fcntl(ends.out, F_DUPFD_CLOEXEC, 10);
  const int err = fcntl(ends.err, F_DUPFD_CLOEXEC, 10);
  if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0 ||
      (!standard && dup2(control, kChildControl) < 0))
    _exit(kExitNoDescriptors);
  execv(command[0], command);
  _exit(kExitNotFound);
}

}  // namespace

Result<NodeProcess> NodeProcess::start(const std::vector<std::string>& command, Place place) {
  int control[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1};
  const bool made = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, control) == 0 &&
                    pipe2(err, O_CLOEXEC) == 0 && (place == Place::kStandard || pipe2(out, O_CLOEXEC) == 0);
  NodeProcess node;
  node.control_ = Channel(Fd(control[0]));
  node.output_[0].reset(out[0]);
  node.output_[1].reset(err[0]);
  const Fd theirs[] = {Fd(control[1]), Fd(out[1]), Fd(err[1])};
  if (!made) {
    return Failure{fmt::format(
        "cannot create the channels to the node process: {}{}", strerror(errno),
        errno == EMFILE ? "; raise the limit on open files (ulimit -n): a node process needs three" : "")};
  }
  std::vector<char*> words;
  words.reserve(command.size() + 1);
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const pid_t parent = getpid();
  node.pid_ = fork();
  if (node.pid_ < 0)
    return Failure{fmt::format("cannot start the node process: {}{}", strerror(errno),
                               errno == EAGAIN ? "; is the limit on processes (ulimit -u) reached?" : "")};
  if (node.pid_ == 0) exec_child(words.data(), {place, control[1], out[1], err[1]}, parent);
  setpgid(node.pid_, node.pid_);  // both sides, so that the group exists whoever comes first
  for (const int fd : {control[0], out[0], err[0]}) {
    if (fd >= 0) fcntl(fd, F_SETFL, O_NONBLOCK);
  }
  return node;
}

NodeProcess::NodeProcess(NodeProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      control_(std::move(other.control_)),
      output_{std::move(other.output_[0]), std::move(other.output_[1])},
      adopted_(other.adopted_),
      reaped_(other.reaped_),
      status_(other.status_) {}

NodeProcess::~NodeProcess() {
  if (pid_ > 0 && !reaped_) {
    signal_group(SIGKILL);
    waitpid(pid_, &status_, 0);
  }
}

NodeProcess NodeProcess::adopt(Channel channel) {
  NodeProcess node;
  node.adopted_ = true;
  node.control_ = std::move(channel);
  fcntl(node.control_.in(), F_SETFD, FD_CLOEXEC);
  fcntl(node.control_.in(), F_SETFL, O_NONBLOCK);
  return node;
}

void NodeProcess::end_channel() const {
  if (adopted_) shutdown(control_.in(), SHUT_RDWR);
}

void NodeProcess::signal_group(int signal) const {
  if (signal == SIGKILL) end_channel();
  if (pid_ > 0) kill(-pid_, signal);
}

bool NodeProcess::reap() {
  while (!reaped_ && pid_ > 0 && waitpid(pid_, &status_, WNOHANG | WUNTRACED | WCONTINUED) == pid_) {
    reaped_ = WIFEXITED(status_) || WIFSIGNALED(status_);
    stopped_ = WIFSTOPPED(status_) ? Deadline(Clock::now()) : std::nullopt;
  }
  return reaped_;
}

bool NodeProcess::is_stuck(ExitWatch::Clock::time_point now) {
  stuck_status_ = !reaped_ && pid_ > 0 ? exit_.look(pid_, now) : std::nullopt;
  return stuck_status_.has_value();
}

void NodeProcess::leave_behind() {
  if (reap() || !stuck_status_) return;
  status_ = *stuck_status_;
  reaped_ = true;
}

}  // namespace tmpi::launch
