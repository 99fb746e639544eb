#include "net/handshake_io.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tmpi::net {
namespace {

bool try_again(int error) noexcept {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR;
}

// False: the stream takes nothing now.
bool push(int fd, Handshake& handshake) noexcept {
  while (!handshake.to_send().empty()) {
    const auto bytes = handshake.to_send();
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) {
      if (!try_again(errno)) handshake.abandon(Refusal::kClosed, std::strerror(errno));
      return false;
    }
    handshake.sent(static_cast<std::size_t>(sent));
  }
  return true;
}

}  // namespace

void pump(int fd, Handshake& handshake) noexcept {
  std::byte buffer[512];
  push(fd, handshake);
  for (std::size_t wanted = handshake.wanted(); wanted != 0; wanted = handshake.wanted()) {
    const ssize_t got = recv(fd, buffer, std::min(wanted, sizeof buffer), MSG_DONTWAIT);
    if (got < 0 && try_again(errno)) return;
    if (got <= 0) return handshake.abandon(Refusal::kClosed, got < 0 ? std::strerror(errno) : "");
    handshake.take({buffer, static_cast<std::size_t>(got)});
    push(fd, handshake);
  }
}

void close_politely(Fd fd) noexcept {
  char unread[4096];
  shutdown(fd.get(), SHUT_WR);
  // Bounded: a peer that keeps sending gets a reset.
  for (int i = 0; i < 16 && recv(fd.get(), unread, sizeof unread, MSG_DONTWAIT) > 0; ++i) continue;
}

}  // namespace tmpi::net
