#include "launch/control/control_channel.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "launch/wire/hello.hpp"
#include "net/verbs/adapters.hpp"

namespace tmpi::launch {
namespace {

void set_nonblocking(int fd) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

}  // namespace

ControlChannel::ControlChannel(Channel channel, bool preamble)
    : channel_(std::move(channel)), preamble_(preamble) {
  for (const int fd : {channel_.in(), channel_.out()}) fcntl(fd, F_SETFD, FD_CLOEXEC);
}

ControlChannel::ControlChannel(Fd socket, const net::JobKey& key, int number)
    : ControlChannel(Channel(std::move(socket))) {
  channel_.seal(key.secret, number, net::kLauncherNode);
  key_ = key;
}

ControlChannel::ControlChannel(Channel channel, std::string received) : ControlChannel(std::move(channel)) {
  received_ = std::move(received);
}

bool ControlChannel::say_hello() {
  std::string hello = preamble_ ? kPreamble : "";
  Hello own = own_hello();
  own.no_verbs = net::verbs::why_not_here();
  append_frame(hello, FrameType::kHello, -1, 0, pack(own));
  for (std::string_view rest = hello; !rest.empty();) {
    const ssize_t done = channel_.write(rest);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return false;
    rest.remove_prefix(static_cast<std::size_t>(done));
  }
  return true;
}

Result<Assignment> ControlChannel::receive_job() {
  if (received_) {
    channel_.add(*received_);
    net::wipe(*received_);
  } else if (!say_hello()) {
    return Failure{"tmpirun closed the control channel before it could say hello"};
  }
  for (Frame frame{};;) {
    switch (channel_.next(frame)) {
      case FrameReader::Status::kFrame: {
        if (frame.header.type == FrameType::kEndNow) _exit(0);
        if (frame.header.type != FrameType::kJob) break;
        for (const int fd : {channel_.in(), channel_.out()}) set_nonblocking(fd);
        Result<Assignment> assignment = unpack_assignment(frame.payload);
        if (assignment && key_) assignment->node.secret = key_->secret;
        return assignment;
      }
      case FrameReader::Status::kGarbage:
        break;
      case FrameReader::Status::kIncomplete:
        if (channel_.receive() != Channel::Received::kEnd) continue;
        return Failure{"tmpirun closed the control channel before it sent a job"};
    }
    return Failure{
        "the control channel does not speak tmpi's protocol; tmpi-node is started by tmpirun, not by hand"};
  }
}

ssize_t ControlChannel::send(std::string_view frames) noexcept {
  std::size_t sent = 0;
  while (sent < frames.size()) {
    const ssize_t done = channel_.write(frames.substr(sent));
    if (done < 0 && errno == EINTR) continue;
    if (done == 0 || (done < 0 && errno == EAGAIN)) break;
    if (done < 0) return -1;
    sent += static_cast<std::size_t>(done);
  }
  return static_cast<ssize_t>(sent);
}

// The starter may end the job as soon as one of its processes has gone, so tmpirun goes first or at least has
// heard everything, which takes as long as the reader of its output. Keep-alive (tune_channel) tells if its
// machine is gone.
bool ControlChannel::await_end(int socket, int milliseconds) noexcept {
  shutdown(socket, SHUT_WR);
  pollfd request{socket, POLLIN, 0};
  char unread[4096];
  for (;;) {
    const int ready = poll(&request, 1, milliseconds);
    if (ready == 0) return false;
    if (ready < 0 && errno == EINTR) continue;
    const ssize_t got = recv(socket, unread, sizeof(unread), MSG_DONTWAIT);
    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR))) continue;
    return true;
  }
}

// Zero however the job has ended, so that tmpirun's own code is the only one that the starter sees.
int ControlChannel::close(int code) noexcept {
  if (!attached()) return code;
  await_end(channel_.in(), -1);
  return 0;
}

}  // namespace tmpi::launch
