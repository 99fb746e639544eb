#include "launch/launcher/node.hpp"

#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/secret.hpp"

namespace tmpi::launch {
namespace {

constexpr std::size_t kReadSize = 256 << 10;
constexpr std::chrono::seconds kSilence{1};  // a forked child of a rank may hold the channel open

}  // namespace

Node::Node(int number, const NodePlan& plan, NodeProcess process)
    : number_(number),
      remote_(plan.remote),
      host_(plan.host),
      process_(std::move(process)),
      in_step_(!plan.remote || plan.channel >= 0),
      pipe_open_{process_.output(1) >= 0, process_.output(2) >= 0} {}

void Node::seal(const net::Secret& job, int attached_as) {
  sealed_ = std::make_unique<net::SealedStream>(job, net::Role::kControl, net::kLauncherNode, attached_as);
}

void Node::send(FrameType type, std::uint16_t detail, std::string_view payload) {
  append_frame(out_, type, -1, detail, payload);
  flush();
}

void Node::flush() {
  while (control_open_ && !out_.empty()) {
    const ssize_t done = sealed_ != nullptr ? sealed_->send(process_.control(), out_)
                                            : ::send(process_.control(), out_.data(), out_.size(),
                                                     MSG_NOSIGNAL | MSG_DONTWAIT);
    if (done == 0 || (done < 0 && errno == EAGAIN)) return;
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return out_.clear();  // the node process is gone; reading its channel tells so
    net::wipe_front(out_, static_cast<std::size_t>(done));
  }
}

// What comes before it is of the same kind as what the remote shell says on stderr.
void Node::find_preamble(std::string_view bytes) {
  diagnostics += bytes;
  const std::size_t at = diagnostics.find(kPreamble);
  if (at == std::string::npos) {
    if (diagnostics.size() > kMostNoise) control_open_ = false;  // see too_noisy()
    return;
  }
  in_step_ = true;
  const std::string rest = diagnostics.substr(at + sizeof(kPreamble) - 1);
  diagnostics.resize(at);
  in_.add(rest);
}

// Into in_, what comes before the preamble aside; as read().
ssize_t Node::receive() {
  if (sealed_ != nullptr) {
    std::string opened;
    const ssize_t got = sealed_->receive(process_.control(), opened);
    garbled_ = got < 0 && errno == EBADMSG;
    in_.add(opened);
    return garbled_ ? 1 : got;
  }
  char* room = in_.room(kReadSize);
  const ssize_t got = read(process_.control(), room, kReadSize);
  if (got <= 0) return got;
  if (in_step_)
    in_.filled(static_cast<std::size_t>(got));
  else
    find_preamble(std::string(room, static_cast<std::size_t>(got)));
  return got;
}

bool Node::fill() {
  const ssize_t got = receive();
  if (got > 0) return true;
  if (got == 0 || (errno != EAGAIN && errno != EINTR)) close_control();
  return false;
}

void Node::close_control() {
  control_open_ = false;
  if (!process_.adopted()) return;
  process_.channel_ended();
  if (!ended_) ended_ = Clock::now();
}

std::string Node::read_pipe(int stream) {
  char buffer[64 << 10];
  const ssize_t got = read(process_.output(stream), buffer, sizeof(buffer));
  if (got > 0) return {buffer, static_cast<std::size_t>(got)};
  if (got == 0 || (errno != EAGAIN && errno != EINTR)) pipe_open_[stream - 1] = false;
  return {};
}

bool Node::collect() {
  if (process_.reaped() || !process_.reap()) return false;
  ended_ = Clock::now();
  process_.signal_group(SIGKILL);  // forked children of ranks hold its channels open
  return true;
}

bool Node::leave_if_stuck(Clock::time_point now) {
  if (!running() || !process_.is_stuck(now) || unread()) return false;
  process_.leave_behind();
  ended_ = now;
  process_.signal_group(SIGKILL);
  control_open_ = pipe_open_[0] = pipe_open_[1] = false;  // they end when the kernel is done with it
  return true;
}

bool Node::unread() const {
  const auto waiting = [](int fd) {
    int bytes = 0;
    return fd >= 0 && ioctl(fd, FIONREAD, &bytes) == 0 && bytes > 0;
  };
  return waiting(control()) || waiting(pipe(1)) || waiting(pipe(2));
}

bool Node::silent() const {
  if (!process_.reaped()) return false;
  return !control_open_ || (Clock::now() > *ended_ + kSilence && !unread());
}

}  // namespace tmpi::launch
