#include "net/tcp/socket.hpp"

#include <fmt/format.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace tmpi::net::tcp {
namespace {

constexpr int kBacklog = 1024;  // all nodes of a job may come at once

constexpr int kLoopbackBuffer = 512 << 10;

int send_buffer_limit() noexcept {
  int limit = 0;
  if (std::FILE* file = std::fopen("/proc/sys/net/core/wmem_max", "re")) {
    if (std::fscanf(file, "%d", &limit) != 1) limit = 0;
    std::fclose(file);
  }
  return limit;
}

// What the kernel does not know is no loss.
void set(int fd, int level, int option, int value) noexcept {
  setsockopt(fd, level, option, &value, sizeof value);
}

Fd open_socket(int family) noexcept {
  return Fd(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

}  // namespace

Result<Fd> listen_at(Endpoint& address, const Settings& settings) {
  int error = 0;
  for (std::uint32_t port = settings.first_port; port <= settings.last_port; ++port) {
    Fd fd = open_socket(address.family());
    if (!fd) return Failure{fmt::format("tcp cannot make a socket: {}", std::strerror(errno))};
    if (port != 0) set(fd.get(), SOL_SOCKET, SO_REUSEADDR, 1);
    if (address.family() == AF_INET6) set(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, 1);
    address.set_port(static_cast<std::uint16_t>(port));
    if (bind(fd.get(), address.get(), address.length) == 0 && listen(fd.get(), kBacklog) == 0) {
      getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address.storage), &address.length);
      return fd;
    }
    error = errno;
  }
  return Failure{
      fmt::format("tcp cannot listen at {} on {}: {}", address.host_text(),
                  settings.first_port == 0 ? "any port"
                  : settings.first_port == settings.last_port
                      ? fmt::format("port {}", settings.first_port)
                      : fmt::format("any of the ports {}-{}", settings.first_port, settings.last_port),
                  std::strerror(error))};
}

Fd connect_to(const Endpoint& address, int& error) noexcept {
  Fd fd = open_socket(address.family());
  error = errno;
  if (!fd) return fd;
  set_options(fd.get(), address.is_loopback());
  if (connect(fd.get(), address.get(), address.length) == 0 || errno == EINPROGRESS) return fd;
  error = errno;
  return Fd();
}

int connect_state(int fd) noexcept {
  int error = 0;
  socklen_t length = sizeof error;
  if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0) return errno;
  if (error != 0) return error;
  sockaddr_storage peer;
  length = sizeof peer;
  return getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &length) == 0 ? 0 : EINPROGRESS;
}

void set_options(int fd, bool loopback) noexcept {
  set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(fd, IPPROTO_TCP, TCP_KEEPIDLE, 2);
  set(fd, IPPROTO_TCP, TCP_KEEPINTVL, 1);
  set(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
  if (!loopback) return;
  // There is no congestion inside a machine. Others, like bbr, space out what is sent.
  setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, "reno", sizeof "reno" - 1);
  // Ping-pong of 4 MiB: 0.50 ms, against 0.74 ms with the buffer that the kernel chooses (and enlarges to
  // several MiB, which between hosts is right). A buffer that the system's limit cuts down would be worse.
  static const bool permitted = send_buffer_limit() >= kLoopbackBuffer;
  if (permitted) set(fd, SOL_SOCKET, SO_SNDBUF, kLoopbackBuffer);
}

bool has_unacknowledged(int fd) noexcept {
  int bytes = 0;
  return ioctl(fd, SIOCOUTQ, &bytes) == 0 && bytes > 0;
}

// Not TCP_USER_TIMEOUT: the kernel also counts the time in which the peer's host answers that its process
// has not read what lies there, and a process that computes for a minute is no dead one.
bool peer_is_silent(int fd, double seconds) noexcept {
  tcp_info info{};
  socklen_t length = sizeof info;
  if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return false;
  const bool asking = (info.tcpi_unacked > 0 && info.tcpi_retransmits >= 2) || info.tcpi_probes >= 2;
  return asking && info.tcpi_last_ack_recv > seconds * 1000;
}

std::uint64_t nanoseconds_now() noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace tmpi::net::tcp
