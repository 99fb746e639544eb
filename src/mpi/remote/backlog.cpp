#include "mpi/remote/backlog.hpp"

#include <algorithm>
#include <cstring>

#include "mpi/base/no_memory.hpp"

namespace tmpi::mpi::remote {
namespace {

constexpr char kWhat[] = "a message that waits until the network takes it";

std::span<const iovec> as_iovec(iovec& place, const Bytes& payload) noexcept {
  place = {const_cast<void*>(payload.data), payload.size};
  return {&place, payload.size > 0 ? std::size_t{1} : 0};
}

}  // namespace

void Backlog::use(net::Transport& transport, int peers, int own) {
  transport_ = &transport;
  own_ = own;
  queues_ = std::make_unique<Queue[]>(static_cast<std::size_t>(peers));
}

bool Backlog::post_bytes(int peer, Kind kind, std::span<const std::byte> header, Bytes payload,
                         net::Completion* completion) noexcept {
  count(peer);
  Queue& queue = queues_[static_cast<std::size_t>(peer)];
  if (queue.lost) return true;
  if (queue.entries.empty()) [[likely]] {
    iovec place;
    const net::Post result =
        transport_->send(peer, static_cast<std::uint8_t>(kind), header, as_iovec(place, payload), completion);
    if (result != net::Post::kNoResource) {
      if (kind == Kind::kSwitched) send_by_new(peer);
      return result == net::Post::kDone;
    }
  }
  with_memory_for(kWhat, [&] { defer_message(peer, kind, header, payload, completion); });
  return completion == nullptr;
}

// Only when it has really been posted is kSwitched the last message by the old connection.
void Backlog::send_by_new(int peer) noexcept {
  if (net::Reconnection* const reconnection = transport_->reconnection()) reconnection->send_by_new(peer);
}

void Backlog::defer_message(int peer, Kind kind, std::span<const std::byte> header, Bytes payload,
                            net::Completion* completion) {
  Entry entry;
  entry.kind = kind;
  entry.header_size = static_cast<std::uint8_t>(header.size());
  std::memcpy(entry.header.data(), header.data(), header.size());
  entry.payload = payload;
  entry.completion = completion;
  if (completion == nullptr && payload.size > 0) {
    entry.copy = std::make_unique<std::byte[]>(payload.size);
    std::memcpy(entry.copy.get(), payload.data, payload.size);
    entry.payload.data = entry.copy.get();
    queues_[static_cast<std::size_t>(peer)].copied += payload.size;
  }
  defer(peer, std::move(entry));
}

bool Backlog::get(int peer, const Read& read, net::Completion& completion) noexcept {
  count(peer);
  Queue& queue = queues_[static_cast<std::size_t>(peer)];
  if (queue.lost) return false;
  if (queue.entries.empty()) {
    const net::Post result =
        transport_->get(peer, read.key, read.address, read.buffer, read.bytes, &completion);
    if (result != net::Post::kNoResource) return result == net::Post::kDone;
  }
  Entry entry;
  entry.is_read = true;
  entry.read = read;
  entry.completion = &completion;
  with_memory_for(kWhat, [&] { defer(peer, std::move(entry)); });
  return false;
}

void Backlog::defer(int peer, Entry&& entry) {
  Queue& queue = queues_[static_cast<std::size_t>(peer)];
  if (!queue.listed) crowded_.push_back(peer);
  queue.listed = true;
  queue.entries.push_back(std::move(entry));
  ++waiting_;
  ++deferred_;
}

net::Post Backlog::try_post(int peer, const Entry& entry) noexcept {
  if (entry.is_read) {
    const Read& read = entry.read;
    return transport_->get(peer, read.key, read.address, read.buffer, read.bytes, entry.completion);
  }
  iovec place;
  return transport_->send(peer, static_cast<std::uint8_t>(entry.kind),
                          {entry.header.data(), entry.header_size}, as_iovec(place, entry.payload),
                          entry.completion);
}

bool Backlog::post_queue(int peer) noexcept {
  Queue& queue = queues_[static_cast<std::size_t>(peer)];
  bool posted = false;
  while (!queue.entries.empty()) {
    const net::Post result = try_post(peer, queue.entries.front());
    if (result == net::Post::kNoResource) break;
    posted = true;
    if (!queue.entries.front().is_read && queue.entries.front().kind == Kind::kSwitched) send_by_new(peer);
    const Entry entry = std::move(queue.entries.front());
    queue.entries.pop_front();
    --waiting_;
    if (entry.copy != nullptr) queue.copied -= entry.payload.size;
    // May post to the same peer: behind what waits here, or at once if this was the last.
    if (result == net::Post::kDone && entry.completion != nullptr) entry.completion->done(*entry.completion);
  }
  return posted;
}

bool Backlog::post_again() noexcept {
  bool posted = false;
  for (std::size_t i = 0; i < crowded_.size();) {
    const int peer = crowded_[i];
    posted |= post_queue(peer);
    Queue& queue = queues_[static_cast<std::size_t>(peer)];
    if (!queue.entries.empty()) {
      ++i;
    } else {
      queue.listed = false;
      crowded_[i] = crowded_.back();  // completions may have appended: look at i again
      crowded_.pop_back();
    }
  }
  return posted;
}

void Backlog::forget(int peer) noexcept {
  Queue& queue = queues_[static_cast<std::size_t>(peer)];
  queue.lost = true;
  waiting_ -= queue.entries.size();
  queue.entries.clear();
  queue.copied = 0;
  queue.listed = false;
  std::erase(crowded_, peer);
}

}  // namespace tmpi::mpi::remote
