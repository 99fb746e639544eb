// What both ends of an attached node process's channel do with their socket.
#pragma once

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace tmpi::launch {

/// Small frames go at once, and a machine that is gone is noticed within five seconds. (No TCP_USER_TIMEOUT:
/// it would also end a connection whose reader just waits for a slow terminal.)
inline void tune_channel(int fd) noexcept {
  const auto set = [fd](int level, int option, int value) {
    setsockopt(fd, level, option, &value, sizeof(value));
  };
  set(IPPROTO_TCP, TCP_NODELAY, 1);
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, 2);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 1);
  set(IPPROTO_TCP, TCP_KEEPCNT, 3);
}

}  // namespace tmpi::launch
