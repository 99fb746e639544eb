// The other nodes: coming into contact, noticing that they have left, closing.
#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <utility>

#include "net/sim/sim.hpp"

namespace tmpi::net::sim {

// Opens the node's segment if that has not been done.
void Sim::meet(int node) noexcept {
  Peer& peer = peers_[static_cast<std::size_t>(node)];
  if (peer.segment || peer.ended || peer.lost) return;
  Result<PeerSegment> segment = PeerSegment::open(peer.address, node_, nodes_);
  if (!segment) {
    peer.ended = true;
    peer.why = segment.message();
    return listen(node);
  }
  peer.segment = std::move(*segment);
  peer.out = peer.segment.writer();
  epoll_event event{.events = EPOLLIN, .data = {.u32 = static_cast<std::uint32_t>(node)}};
  if (epoll_ctl(watch_.get(), EPOLL_CTL_ADD, peer.segment.process_fd(), &event) != 0) {
    peer.ended = true;
    peer.why = "its process cannot be watched (epoll_ctl)";
    listen(node);
  }
}

// The node to send to; null if it has left.
Sim::Peer* Sim::contact(int node) noexcept {
  meet(node);
  Peer& peer = peers_[static_cast<std::size_t>(node)];
  if (peer.ended || peer.lost) return nullptr;
  if (peer.segment.state().life.load(std::memory_order_acquire) == Life::kOpen) return &peer;
  listen(node);  // so that settle() finds out
  return nullptr;
}

void Sim::listen(int node) noexcept {
  Peer& peer = peers_[static_cast<std::size_t>(node)];
  if (peer.listening || peer.lost) return;
  peer.listening = true;
  listening_.push_back(node);
}

// Its ring seems to be empty: has it left? False if there is something after all.
bool Sim::settle(int node) noexcept {
  Peer& peer = peers_[static_cast<std::size_t>(node)];
  if (!peer.lost) {
    Life life = peer.in.writer();
    if (life == Life::kOpen && peer.segment) life = peer.segment.state().life.load(std::memory_order_acquire);
    if (peer.in.front() != nullptr) return false;
    if (life == Life::kAbandoned) {
      lose(node, "it has left without closing its connections");
    } else if (life == Life::kClosed) {
      peer.lost = true;  // what is sent there is dropped, which it has asked for
      drop_rest(node);
      drop_gets(node);
    } else if (peer.ended) {
      lose(node, peer.why);
    }
  }
  peer.listening = false;
  return true;
}

void Sim::lose(int node, std::string why) noexcept {
  Peer& peer = peers_[static_cast<std::size_t>(node)];
  if (peer.lost) return;
  peer.lost = true;
  peer.why = std::move(why);
  failed_.push_back(node);
}

bool Sim::report_lost() noexcept {
  while (!failed_.empty()) {
    const int node = failed_.back();
    failed_.pop_back();
    drop_rest(node);
    drop_gets(node);
    sink_.lost(node, peers_[static_cast<std::size_t>(node)].why);
  }
  return true;
}

// What was still to be written to a node that has left: its buffers are free.
void Sim::drop_rest(int node) noexcept {
  Rest& rest = peers_[static_cast<std::size_t>(node)].rest;
  if (!std::exchange(rest.active, false)) return;
  rests_.erase(std::find(rests_.begin(), rests_.end(), node));
  rest.completion->done(*rest.completion);
}

// What was to be read there never comes; no completion is delivered, since it would be taken for data.
void Sim::drop_gets(int node) noexcept {
  if (arrivals_.busy() && arrivals_.current().source >= nodes_ &&
      gets_[static_cast<std::size_t>(arrivals_.current().source - nodes_)].peer == node)
    arrivals_.finish();
  std::erase_if(active_gets_, [&](int slot) {
    const bool gone = gets_[static_cast<std::size_t>(slot)].peer == node;
    if (gone) free_gets_.push_back(slot);
    return gone;
  });
}

void Sim::watch_processes() noexcept {
  epoll_event events[16];
  const int count = epoll_wait(watch_.get(), events, 16, 0);
  for (int i = 0; i < count; ++i) {
    const int node = static_cast<int>(events[i].data.u32);
    if (node == node_) continue;  // the wake-up descriptor
    Peer& peer = peers_[static_cast<std::size_t>(node)];
    epoll_ctl(watch_.get(), EPOLL_CTL_DEL, peer.segment.process_fd(), nullptr);
    if (!peer.ended) peer.why = fmt::format("its process {} has ended", peer.segment.process());
    peer.ended = true;
    listen(node);
  }
}

void Sim::end_contacts(Life life) noexcept {
  segment_.state().life.store(life, std::memory_order_release);  // pairs with contact() and settle()
  for (Peer& peer : peers_) {
    if (!peer.segment) continue;
    peer.out.end(life);
    peer.segment.notify(node_);
  }
}

}  // namespace tmpi::net::sim
