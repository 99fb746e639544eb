// What leaves a node: messages, requests to read memory, and buffers that are free again.
#include <algorithm>
#include <cstring>

#include "net/sim/sim.hpp"
#include "net/sim/sim_limits.hpp"

namespace tmpi::net::sim {
namespace {

std::uint64_t total(std::span<const iovec> payload) noexcept {
  std::uint64_t bytes = 0;
  for (const iovec& part : payload) bytes += part.iov_len;
  return bytes;
}

// Copies the next `bytes` bytes of the payload from (part, offset) on, and moves that on.
void gather(std::byte* to, std::span<const iovec> payload, std::size_t& part, std::size_t& offset,
            std::uint64_t bytes) noexcept {
  while (bytes > 0) {
    const iovec& from = payload[part];
    const std::size_t length = std::min<std::uint64_t>(bytes, from.iov_len - offset);
    if (length > 0) std::memcpy(to, static_cast<const std::byte*>(from.iov_base) + offset, length);
    to += length;
    bytes -= length;
    offset += length;
    if (offset == from.iov_len) {
      ++part;
      offset = 0;
    }
  }
}

}  // namespace

Post Sim::refuse(Peer& peer) noexcept {
  peer.refused = true;
  return Post::kNoResource;
}

// Tells when the buffers of something are free whose last byte leaves at `time`.
Post Sim::depart(Nanoseconds time, Completion* completion) noexcept {
  if (time <= now()) return Post::kDone;
  departed_[departed_tail_++ % departed_.size()] = {time, completion};
  expect_event(time);
  return Post::kInProgress;
}

// Stamps and publishes a piece that lies in the ring, and tells the peer; when its last byte departs.
Nanoseconds Sim::write_piece(Peer& peer, Record& record, Departure& departure, Nanoseconds ready) noexcept {
  const std::uint64_t bytes = record.header + record.data;
  const Nanoseconds start = departure.piece(segment_.state().out, model_, ready, bytes, record.last != 0);
  const Nanoseconds delay = record.kind == Kind::kFirst ? peer.jitter.next() : 0;
  record.arrives = std::max(peer.last_arrival, start + model_.latency + delay);
  peer.last_arrival = record.arrives;
  peer.out.publish(record);
  peer.segment.notify(node_, record.arrives + model_.wire_time(bytes));
  return start + model_.wire_time(bytes);
}

Post Sim::send(int node, std::uint8_t id, std::span<const std::byte> header, std::span<const iovec> payload,
               Completion* completion) noexcept {
  const Nanoseconds ready = now() + model_.overhead;
  Peer* peer = contact(node);
  if (peer == nullptr) return Post::kDone;  // lost: dropped
  const std::uint64_t bytes = total(payload);
  const bool buffered = bytes <= kMostBuffered;
  if (peer->rest.active || (!buffered && departures_full())) return refuse(*peer);
  const auto first = static_cast<std::uint32_t>(std::min(bytes, kPiece));
  Record* record = peer->out.reserve(static_cast<std::uint32_t>(header.size()) + first);
  if (record == nullptr) return refuse(*peer);

  record->kind = Kind::kFirst;
  record->id = id;
  record->last = first == bytes;
  record->connection = peer->out_connection;
  record->header = static_cast<std::uint32_t>(header.size());
  record->data = first;
  record->payload = bytes;
  std::size_t part = 0, offset = 0;
  if (!header.empty()) std::memcpy(record->content(), header.data(), header.size());
  gather(record->content() + header.size(), payload, part, offset, first);
  if (comes_unasked(id, bytes, peer->eager[peer->out_connection])) peer->out.count_unasked();
  Departure departure;
  Nanoseconds end = write_piece(*peer, *record, departure, ready);
  ++traffic_.messages_sent;
  traffic_.bytes_sent += header.size() + bytes;

  if (first < bytes) {
    Rest& rest = peer->rest;
    rest.active = true;
    rest.payload.assign(payload.begin(), payload.end());
    rest.part = part;
    rest.offset = offset;
    rest.left = bytes - first;
    rest.payload_bytes = bytes;
    rest.id = id;
    rest.departure = departure;
    rest.completion = completion;
    end = push_rest(node, *peer, ready);
  }
  spin_until(ready);
  if (peer->rest.active) return Post::kInProgress;
  return buffered ? Post::kDone : depart(end, completion);
}

// Writes what there is room for; when the last byte of it departs. The rest stays active if that is not all.
Nanoseconds Sim::push_rest(int node, Peer& peer, Nanoseconds ready) noexcept {
  Rest& rest = peer.rest;
  Nanoseconds end = ready;
  while (rest.left > 0) {
    const auto bytes = static_cast<std::uint32_t>(std::min(rest.left, kPiece));
    Record* record = peer.out.reserve(bytes);
    if (record == nullptr) {
      if (std::find(rests_.begin(), rests_.end(), node) == rests_.end()) rests_.push_back(node);
      return end;
    }
    record->kind = Kind::kFollowing;
    record->id = rest.id;
    record->last = bytes == rest.left;
    record->data = bytes;
    record->payload = rest.payload_bytes;
    gather(record->content(), rest.payload, rest.part, rest.offset, bytes);
    rest.left -= bytes;
    end = write_piece(peer, *record, rest.departure, ready);
  }
  rest.active = false;
  return end;
}

bool Sim::push_rests() noexcept {
  bool progress = false;
  for (std::size_t i = 0; i < rests_.size();) {
    if (departures_full()) return progress;
    Peer& peer = peers_[static_cast<std::size_t>(rests_[i])];
    const std::uint64_t before = peer.rest.left;
    const Nanoseconds end = push_rest(rests_[i], peer, now());
    progress = progress || peer.rest.left != before;
    if (peer.rest.active) {
      ++i;
      continue;
    }
    rests_.erase(rests_.begin() + static_cast<std::ptrdiff_t>(i));
    peer.refused = false;  // poll() tells that there has been progress
    departed_[departed_tail_++ % departed_.size()] = {end, peer.rest.completion};
  }
  return progress;
}

bool Sim::complete_departed() noexcept {
  bool progress = false;
  while (departed_head_ != departed_tail_ && departed_[departed_head_ % departed_.size()].time <= now()) {
    Completion& completion = *departed_[departed_head_++ % departed_.size()].completion;
    progress = true;
    completion.done(completion);
  }
  return progress;
}

Post Sim::get(int node, const RemoteKey& key, std::uint64_t remote, void* buffer, std::size_t bytes,
              Completion* completion) noexcept {
  const Nanoseconds ready = now() + model_.overhead;
  Peer* peer = contact(node);
  if (peer == nullptr) return Post::kInProgress;  // lost: dropped, nothing is read any more
  if (free_gets_.empty()) return refuse(*peer);
  const int slot = free_gets_.back();
  free_gets_.pop_back();
  active_gets_.push_back(slot);
  Get& get = gets_[static_cast<std::size_t>(slot)];
  get = {.completion = completion,
         .key = key,
         .remote = remote,
         .buffer = static_cast<std::byte*>(buffer),
         .bytes = bytes,
         .peer = node};
  // The request, whose few bytes the model neglects, reaches the other interface, which sends the bytes when
  // those that it sends already have left.
  Departure departure;
  const Nanoseconds start =
      departure.piece(peer->segment.state().out, model_, ready + model_.latency, bytes, true);
  get.arrives = start + model_.latency + peer->jitter.next();
  expect_event(get.arrives + model_.wire_time(std::min<std::uint64_t>(bytes, kPiece)));
  spin_until(ready);
  return Post::kInProgress;
}

}  // namespace tmpi::net::sim
