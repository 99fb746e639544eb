#include "launch/launcher/node.hpp"

#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace tmpi::launch {
namespace {

constexpr std::chrono::seconds kSilence{1};  // a forked child of a rank may hold the channel open

}  // namespace

Node::Node(int number, const NodePlan& plan, NodeProcess process)
    : number_(number),
      remote_(plan.remote),
      host_(plan.host),
      process_(std::move(process)),
      pipe_open_{process_.output(1) >= 0, process_.output(2) >= 0} {
  if (plan.remote && !process_.adopted()) process_.control().await_preamble(diagnostics);
}

void Node::send(FrameType type, std::uint16_t detail, std::string_view payload) {
  has_job_ |= type == FrameType::kJob;
  if (control_open_) process_.control().send(type, -1, detail, payload);
}

void Node::flush() {
  if (control_open_) process_.control().flush();
}

bool Node::fill() {
  Channel& channel = process_.control();
  const Channel::Received received = channel.receive();
  if (channel.awaits_preamble() && diagnostics.size() > kMostNoise) control_open_ = false;  // see too_noisy()
  if (received == Channel::Received::kEnd) close_control();
  return received == Channel::Received::kSomething;
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
  if (process_.reaped()) return false;
  const bool ended = process_.reap();
  stop_said = stop_said && process_.stopped();
  if (!ended) return false;
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
