// The system calls on sockets that tcp needs, and the options of its connections.
#pragma once

#include <cstdint>
#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"
#include "net/tcp/endpoint.hpp"
#include "net/tcp/settings.hpp"

namespace tmpi::net::tcp {

/// Listens at the address, at the first free port of the settings. The address comes back with its port.
Result<Fd> listen_at(Endpoint& address, const Settings& settings);

/// Begins to connect. No descriptor: it has failed at once, `error` says why.
Fd connect_to(const Endpoint& address, int& error) noexcept;
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
