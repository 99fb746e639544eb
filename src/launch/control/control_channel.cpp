#include "launch/control/control_channel.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <utility>

#include "launch/wire/hello.hpp"
#include "net/secret.hpp"
#include "net/verbs/adapters.hpp"

namespace tmpi::launch {
namespace {

constexpr std::size_t kReadSize = 64 << 10;

void set_nonblocking(int fd) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

}  // namespace

ControlChannel::ControlChannel(int in, int out, bool preamble) : in_(in), out_(out), preamble_(preamble) {
  for (const int fd : {in_, out_}) fcntl(fd, F_SETFD, FD_CLOEXEC);
}

ControlChannel::ControlChannel(int in, int out, std::string received) : ControlChannel(in, out, false) {
  received_ = std::move(received);
}

ssize_t ControlChannel::put(std::string_view bytes) noexcept {
  return ::write(out_, bytes.data(), bytes.size());
}

ssize_t ControlChannel::get(FrameReader& incoming) {
  char* room = incoming.room(kReadSize);
  const ssize_t got = read(in_, room, kReadSize);
  if (got > 0) incoming.filled(static_cast<std::size_t>(got));
  return got;
}

bool ControlChannel::send_all(std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t done = put(bytes);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
  return true;
}

bool ControlChannel::say_hello() {
  std::string hello = preamble_ ? kPreamble : "";
  Hello own = own_hello();
  own.no_verbs = net::verbs::why_not_here();
  append_frame(hello, FrameType::kHello, -1, 0, pack(own));
  return send_all(hello);
}

Result<Assignment> ControlChannel::receive_job(FrameReader& incoming) {
  if (received_) {
    incoming.add(*received_);
    net::wipe(*received_);
  } else if (!say_hello()) {
    return Failure{"tmpirun closed the control channel before it could say hello"};
  }
  for (Frame frame{};;) {
    switch (incoming.next(frame)) {
      case FrameReader::Status::kFrame: {
        if (frame.header.type == FrameType::kEndNow) _exit(0);
        if (frame.header.type != FrameType::kJob) break;
        set_nonblocking(in_);
        set_nonblocking(out_);
        return unpack_assignment(frame.payload);
      }
      case FrameReader::Status::kGarbage:
        break;
      case FrameReader::Status::kIncomplete: {
        const ssize_t got = get(incoming);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return Failure{"tmpirun closed the control channel before it sent a job"};
        continue;
      }
    }
    return Failure{
        "the control channel does not speak tmpi's protocol; tmpi-node is started by tmpirun, not by hand"};
  }
}

ssize_t ControlChannel::send(std::string_view frames) noexcept {
  std::size_t sent = 0;
  while (sent < frames.size()) {
    const ssize_t done = put(frames.substr(sent));
    if (done < 0 && errno == EINTR) continue;
    if (done == 0 || (done < 0 && errno == EAGAIN)) break;
    if (done < 0) return -1;
    sent += static_cast<std::size_t>(done);
  }
  return static_cast<ssize_t>(sent);
}

bool ControlChannel::receive(FrameReader& incoming) {
  const ssize_t got = get(incoming);
  return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

}  // namespace tmpi::launch
