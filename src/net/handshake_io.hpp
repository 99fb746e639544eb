// A handshake over a non-blocking stream socket: what tcp and the launcher do with the bytes.
#pragma once

#include "base/fd.hpp"
#include "net/handshake.hpp"

namespace tmpi::net {

/// Sends and receives what can go at once; call again when the socket is readable (or writable, if to_send()
/// is not empty). Reads no byte behind the handshake. An end of the stream or an error ends the handshake
/// with kClosed. Never blocks, whatever the socket's mode.
void pump(int fd, Handshake& handshake) noexcept;

/// Closes after a refusal so that what was sent last still reaches the other end: a close with unread input
/// would reset the connection.
void close_politely(Fd fd) noexcept;

}  // namespace tmpi::net
