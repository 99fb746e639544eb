// What comes in: notifications, messages, memory of other nodes.
#include <sys/uio.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "net/sim/sim.hpp"
#include "net/sim/sim_limits.hpp"

namespace tmpi::net::sim {

// True if something that found no room may find it now.
bool Sim::drain_inbox() noexcept {
  bool progress = false;
  NodeState& state = segment_.state();
  for (int word = 0; word < (nodes_ + 63) / 64; ++word) {
    if (state.inbox[word].load(std::memory_order_relaxed) == 0) continue;
    // seq_cst pairs with notify(): what was published before is seen.
    for (std::uint64_t bits = state.inbox[word].exchange(0, std::memory_order_seq_cst); bits != 0;
         bits &= bits - 1) {
      const int node = 64 * word + std::countr_zero(bits);
      if (node >= nodes_ || node == node_) continue;
      meet(node);
      listen(node);
      Peer& peer = peers_[static_cast<std::size_t>(node)];
      progress = progress || peer.refused;
      peer.refused = false;
    }
  }
  return progress;
}

// What reaches the interface first. Sources are numbered: nodes, then reads.
Arrivals::Piece Sim::earliest() noexcept {
  Arrivals::Piece first;
  for (std::size_t i = 0; i < listening_.size();) {
    const int node = listening_[i];
    Peer& peer = peers_[static_cast<std::size_t>(node)];
    const Record* record = peer.lost ? nullptr : peer.in.front();
    if (record == nullptr && settle(node)) {
      listening_[i] = listening_.back();
      listening_.pop_back();
      continue;
    }
    ++i;
    if (record != nullptr && is_held(peer, *record)) {
      // What it waits for never comes.
      if (peer.ended) lose(node, peer.why);
      continue;
    }
    if (record != nullptr && record->arrives < first.arrives)
      first = {node, record->arrives, record->header + record->data, record->kind == Kind::kFirst,
               record->last != 0};
  }
  for (const int slot : active_gets_) {
    const Get& get = gets_[static_cast<std::size_t>(slot)];
    const Nanoseconds arrives = get.arrives + model_.wire_time(get.done);
    if (arrives >= first.arrives) continue;
    const std::uint64_t bytes = std::min(kPiece, get.bytes - get.done);
    first = {nodes_ + slot, arrives, bytes, get.done == 0, get.done + bytes == get.bytes};
  }
  return first;
}

// When the first piece of the source's current message began to come in.
Nanoseconds& Sim::started(int source) noexcept {
  return source < nodes_ ? peers_[static_cast<std::size_t>(source)].incoming.started
                         : gets_[static_cast<std::size_t>(source - nodes_)].started;
}

bool Sim::deliver_arrivals() noexcept {
  bool progress = false;
  for (int i = 0; i < kDeliveries; ++i) {
    if (!arrivals_.busy()) {
      const Arrivals::Piece piece = earliest();
      if (piece.source < 0 || piece.arrives > now()) break;
      Nanoseconds& first = started(piece.source);
      const Nanoseconds start = arrivals_.admit(model_, piece, first);
      if (piece.first) first = start;
    }
    if (arrivals_.complete() > now()) break;
    const int source = arrivals_.current().source;
    arrivals_.finish();
    if (source < nodes_) {
      deliver_message(source);
    } else {
      deliver_get(source - nodes_);
    }
    progress = true;
  }
  return progress;
}

void Sim::deliver_message(int node) noexcept {
  const Nanoseconds ready = now() + model_.overhead;
  Peer& peer = peers_[static_cast<std::size_t>(node)];
  Incoming& incoming = peer.incoming;
  Record& record = *peer.in.front();
  if (record.kind == Kind::kFirst) {
    incoming.received = 0;
    if (record.connection != peer.connection && !peer.receives_by_next)
      return lose(node, "it uses a connection that was not agreed upon");
    if (!take_buffer(peer, record, record.content()))
      incoming.landing = sink_.arriving(node, record.id, {record.content(), record.header}, record.payload);
  }
  const Landing& landing = incoming.landing;
  if (incoming.buffer != nullptr)
    std::memcpy(incoming.buffer + kMostHeader + incoming.received, record.content() + record.header,
                record.data);
  else if (incoming.received < landing.capacity && record.data > 0)
    std::memcpy(static_cast<std::byte*>(landing.buffer) + incoming.received, record.content() + record.header,
                std::min<std::uint64_t>(record.data, landing.capacity - incoming.received));
  incoming.received += record.data;
  traffic_.bytes_received += record.header + record.data;
  const bool last = record.last != 0;
  const std::uint8_t id = record.id;
  if (peer.in.pop() && peer.segment) peer.segment.notify(node_);
  if (!last) return;
  if (incoming.buffer != nullptr) deliver_buffered(node, id);
  spin_until(ready);
  ++traffic_.messages_received;
  sink_.landed(node, landing.token);
}

// The next bytes of what is read, from where they lie now. False if they cannot be read.
bool Sim::read_memory(const Get& get, std::uint64_t bytes) noexcept {
  const PeerSegment& segment = peers_[static_cast<std::size_t>(get.peer)].segment;
  std::uint64_t at = get.done;
  for (const std::uint64_t end = at + bytes; at < end;) {
    const iovec local{get.buffer + at, end - at};
    const iovec remote{reinterpret_cast<void*>(get.remote + at), end - at};
    const ssize_t read = process_vm_readv(segment.process(), &local, 1, &remote, 1, 0);
    if (read <= 0) return false;
    at += static_cast<std::uint64_t>(read);
  }
  return true;
}

void Sim::deliver_get(int slot) noexcept {
  Get& get = gets_[static_cast<std::size_t>(slot)];
  const Peer& peer = peers_[static_cast<std::size_t>(get.peer)];
  const std::uint64_t bytes = std::min(kPiece, get.bytes - get.done);
  if (!peer.segment.state().exposed.allows(get.key, get.remote, get.bytes))
    return lose(get.peer, "memory was to be read that it does not expose");
  if (!read_memory(get, bytes))
    return lose(get.peer, "its memory cannot be read (process_vm_readv); its process may have ended");
  get.done += bytes;
  traffic_.bytes_received += bytes;
  if (get.done < get.bytes) return;
  active_gets_.erase(std::find(active_gets_.begin(), active_gets_.end(), slot));
  free_gets_.push_back(slot);
  Completion& completion = *get.completion;
  completion.done(completion);
}

}  // namespace tmpi::net::sim
