// Reconnection: replaces the connection to a peer by one whose receive buffers have another size, while messages
// go on in both directions: the mechanism behind `--eager-limit dynamic` (Subramoni et al., section 4.2, full
// in-band). For transports that have to post memory for what arrives unasked (a queue pair with its shared receive
// queue); one that has not, has no Reconnection, and any eager limit will do. docs/design/eager-limit.md.
//
// Both ends do the same, each when the user above, who has agreed with the other end, tells it to. The user's
// messages in between travel as any other message of the transport:
//
//     one end                                     the other
//                          -- REQUEST -->         prepare()
//     prepare(), connect() <-- REPLY, endpoint --
//                          -- CONNECT, endpoint -> connect(); posts SWITCHED, the last by the old connection;
//     receive_by_new()     <-- SWITCHED --        send_by_new()
//     posts SWITCHED,
//     send_by_new()        -- SWITCHED -->        receive_by_new(), retire_old(); posts RETIRED by the new one
//     retire_old()         <-- RETIRED --
//
// All calls are made by the thread that uses the transport, also from inside the sink's functions. None blocks.
// lost() and close() may come at any step; both connections end then, and calls for a lost peer do nothing.
#pragma once

#include <array>
#include <cstddef>

namespace tmpi::net {

/// What one end of a connection tells the other (the number of a queue pair, its address, the receive buffers that
/// are granted to it). Opaque to whoever carries it; comes from a node that has proved the job's secret.
struct Endpoint {
  std::array<std::byte, 48> bytes{};
};

class Reconnection {
 public:
  /// Makes this end of a new connection to the peer, with receive buffers for payloads of up to `eager` bytes, from
  /// a pool that all connections of this size share. Says in `mine` what the other end's connect() needs. Until
  /// that, nothing can arrive. At most one new connection per peer at a time.
  /// False, and nothing has changed: no memory, no queue pair, or too many pools.
  virtual bool prepare(int peer, std::size_t eager, Endpoint& mine) noexcept = 0;

  /// After prepare(): the new connection can receive from now on, and could send. What arrives on it is kept, not
  /// delivered: messages of the old connection may still be before it. False: it cannot (drop_new() follows).
  virtual bool connect(int peer, const Endpoint& theirs) noexcept = 0;

  /// What is posted from now on goes by the new connection; the peer's end is connected. What has been posted
  /// before goes by the old one, in its order.
  virtual void send_by_new(int peer) noexcept = 0;

  /// The peer's last message by the old connection has been delivered (or is just being: called from inside its
  /// arriving()): from now on what has arrived by the new one is, by poll(), not inside this call.
  virtual void receive_by_new(int peer) noexcept = 0;

  /// After send_by_new() and receive_by_new(): all that was sent by the old connection has been delivered at its
  /// other end, in both directions. It can be destroyed; completions that are still due are called, by poll().
  /// The new one is the connection to the peer, and prepare() may be called again.
  virtual void retire_old(int peer) noexcept = 0;

  /// Gives up what prepare() has made, connected or not; nothing has been sent by it in either direction.
  virtual void drop_new(int peer) noexcept = 0;

 protected:
  ~Reconnection() = default;
};

}  // namespace tmpi::net
