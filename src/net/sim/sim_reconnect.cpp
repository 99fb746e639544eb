// Receive buffers, as a network interface has them that is given memory for what arrives unasked: a message lies in one
// until it is whole. And connections that follow each other, with buffers of different sizes. The wire is the same one
// for both: only what is said about a message changes.
#include <algorithm>
#include <bit>
#include <cstring>

#include "net/sim/sim.hpp"
#include "net/sim/sim_limits.hpp"

namespace tmpi::net::sim {
namespace {

// A buffer holds the header as well.
constexpr std::size_t buffer_for(std::size_t eager) noexcept {
  return kMostHeader + eager;
}

}  // namespace

// False: the message has been asked for, or there is no memory; it goes where it belongs at once.
bool Sim::take_buffer(Peer& peer, const Record& record, const std::byte* header) noexcept {
  Incoming& incoming = peer.incoming;
  incoming.buffer = nullptr;
  if (!comes_unasked(record.id, record.payload, peer.eager[record.connection])) return false;
  ReceivePools::Share& share = peer.shares[record.connection];
  const std::size_t buffers = adapts_ ? ReceivePools::kLeastShare : model_.buffers;
  if (share.pool == nullptr &&
      !pools_.join(share, buffer_for(peer.eager[record.connection]), buffers, adapts_))
    return false;
  // Every message that has been sent lies in a buffer here, or will, before anybody takes it.
  pools_.need(share, static_cast<std::size_t>(peer.in.unasked() - peer.taken));
  ++peer.taken;
  incoming.pool = share.pool;
  incoming.buffer = pools_.take(*share.pool);
  if (incoming.buffer == nullptr) return false;
  incoming.header = record.header;
  incoming.payload = record.payload;
  std::memcpy(incoming.buffer, header, record.header);
  return true;
}

// The message is whole: out of the receive buffer to where it belongs.
void Sim::deliver_buffered(int node, std::uint8_t id) noexcept {
  Incoming& incoming = peers_[static_cast<std::size_t>(node)].incoming;
  std::byte* const buffer = incoming.buffer;
  incoming.landing = sink_.arriving(node, id, {buffer, incoming.header}, incoming.payload);
  const std::size_t bytes = std::min<std::size_t>(incoming.payload, incoming.landing.capacity);
  if (bytes > 0) std::memcpy(incoming.landing.buffer, buffer + kMostHeader, bytes);
  pools_.give_back(*incoming.pool, buffer);
}

bool Sim::prepare(int node, std::size_t eager, Endpoint&) noexcept {
  Peer& peer = peers_[static_cast<std::size_t>(node)];
  if (peer.lost || peer.next) return false;
  const int next = 1 - peer.connection;
  // As many as have been needed at a time so far.
  const std::size_t buffers = std::min<std::size_t>(
      std::max(std::bit_ceil(peer.shares[peer.connection].most), ReceivePools::kLeastShare),
      ReceivePools::kMostShare);
  if (!pools_.join(peer.shares[next], buffer_for(eager), buffers, true)) return false;
  peer.eager[next] = eager;
  peer.next = true;
  return true;
}

bool Sim::connect(int, const Endpoint&) noexcept {
  return true;
}

void Sim::send_by_new(int node) noexcept {
  Peer& peer = peers_[static_cast<std::size_t>(node)];
  if (peer.next) peer.out_connection = static_cast<std::uint8_t>(1 - peer.connection);
}

void Sim::receive_by_new(int node) noexcept {
  Peer& peer = peers_[static_cast<std::size_t>(node)];
  peer.receives_by_next = peer.next;
}

void Sim::retire_old(int node) noexcept {
  Peer& peer = peers_[static_cast<std::size_t>(node)];
  if (!peer.next) return;
  pools_.leave(peer.shares[peer.connection]);
  peer.connection = static_cast<std::uint8_t>(1 - peer.connection);
  peer.next = peer.receives_by_next = false;
}

void Sim::drop_new(int node) noexcept {
  Peer& peer = peers_[static_cast<std::size_t>(node)];
  if (!peer.next) return;
  pools_.leave(peer.shares[1 - peer.connection]);
  peer.next = false;
}

}  // namespace tmpi::net::sim
