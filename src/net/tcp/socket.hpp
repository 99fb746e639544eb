// The system calls on sockets that tcp needs, and the options of its connections.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/result.hpp"
#include "net/tcp/endpoint.hpp"
#include "net/tcp/settings.hpp"

namespace tmpi::net::tcp {

/// A file descriptor that is closed with its owner.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) noexcept : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) reset(std::exchange(other.fd_, -1));
    return *this;
  }
  ~Fd() { reset(); }

  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  int release() noexcept { return std::exchange(fd_, -1); }
  void reset(int fd = -1) noexcept;

 private:
  int fd_ = -1;
};

/// Listens at the address, at the first free port of the settings. The address comes back with its port.
Result<Fd> listen_at(Endpoint& address, const Settings& settings);

/// Begins to connect. No descriptor: it has failed at once, `error` says why.
Fd connect_to(const Endpoint& address, int& error) noexcept;
/// The error is a lack of descriptors or of kernel memory, which may pass.
bool is_shortage(int error) noexcept;
/// How far that is: 0 when connected, EINPROGRESS, or what went wrong.
int connect_state(int fd) noexcept;

/// No delay of small messages; a dead host is noticed within some 5 s even if nothing is sent. Over loopback,
/// no more on its way than stays in the caches.
void set_options(int fd, bool loopback) noexcept;

/// The kernel holds data of ours that the peer's host has not acknowledged.
bool has_unacknowledged(int fd) noexcept;
/// It has been trying to get through for `seconds` without an answer.
bool peer_is_silent(int fd, double seconds) noexcept;

/// CLOCK_MONOTONIC.
std::uint64_t nanoseconds_now() noexcept;

}  // namespace tmpi::net::tcp
