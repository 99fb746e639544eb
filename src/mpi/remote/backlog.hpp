// Backlog: posts to a transport on behalf of the protocols. What the transport has no resources for waits in
// its peer's queue, in order, and is posted again when poll() has made progress. Without memory for what has to
// wait the job ends: its sender believes it to be on its way. Used under the engine's lock.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "mpi/remote/wire.hpp"
#include "net/transport.hpp"

namespace tmpi::mpi::remote {

/// Data in memory that lies in one piece.
struct Bytes {
  const void* data = nullptr;
  std::size_t size = 0;
};

class Backlog {
 public:
  /// Peers from `own` on are of other jobs: what goes there is not counted.
  void use(net::Transport& transport, int peers, int own);

  /// Sends a message with one of wire.hpp's headers. True: the payload is free again. False: it must stay
  /// until `completion` is called. Without a completion the payload, if any, is at most
  /// limits().most_buffered, and always free at once.
  template <class Header>
  bool post(int peer, Kind kind, const Header& header, Bytes payload = {},
            net::Completion* completion = nullptr) noexcept {
    static_assert(sizeof(Header) <= kMostHeader);
    return post_bytes(peer, kind, std::as_bytes(std::span(&header, 1)), payload, completion);
  }
  bool post_bytes(int peer, Kind kind, std::span<const std::byte> header, Bytes payload,
                  net::Completion* completion) noexcept;

  struct Read {
    net::RemoteKey key;
    std::uint64_t address = 0;
    void* buffer = nullptr;
    std::size_t bytes = 0;
  };
  /// Reads from the peer's memory. True: it is there. False: `completion` will be called.
  bool get(int peer, const Read& read, net::Completion& completion) noexcept;

  /// Posts what has waited. True if anything could be posted.
  bool post_again() noexcept;
  bool waiting() const noexcept { return waiting_ != 0; }
  /// Much waits for this peer: a sender had better wait itself than leave copies here.
  bool congested(int peer) const noexcept {
    const Queue& queue = queues_[static_cast<std::size_t>(peer)];
    return queue.copied > kMostCopied || queue.entries.size() > kMostEntries;
  }
  /// The peer is lost: what waits for it is dropped, what is posted to it from now on vanishes.
  void forget(int peer) noexcept;

  /// Messages and reads begun, and what count() has added. Any thread.
  std::uint64_t begun() const noexcept { return begun_.load(std::memory_order_relaxed); }
  std::uint64_t deferred() const noexcept { return deferred_; }

  /// What is begun with this peer is counted.
  bool counts(int peer) const noexcept { return peer < own_; }
  void count(int peer) noexcept {
    if (counts(peer)) begun_.store(begun_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  static constexpr std::size_t kMostCopied = std::size_t{256} << 10;
  static constexpr std::size_t kMostEntries = 256;

 private:
  struct Entry {
    Kind kind{};
    bool is_read = false;
    std::uint8_t header_size = 0;
    std::array<std::byte, kMostHeader> header;
    Bytes payload;
    std::unique_ptr<std::byte[]> copy;
    Read read;
    net::Completion* completion = nullptr;
  };
  struct Queue {
    std::deque<Entry> entries;
    std::size_t copied = 0;
    bool listed = false;  // in crowded_
    bool lost = false;
  };

  net::Post try_post(int peer, const Entry& entry) noexcept;
  bool post_queue(int peer) noexcept;
  void send_by_new(int peer) noexcept;
  void defer_message(int peer, Kind kind, std::span<const std::byte> header, Bytes payload,
                     net::Completion* completion);
  void defer(int peer, Entry&& entry);
  net::Transport* transport_ = nullptr;
  int own_ = 0;
  std::unique_ptr<Queue[]> queues_;  // by peer
  std::vector<int> crowded_;         // peers with something in their queue
  std::size_t waiting_ = 0;
  std::uint64_t deferred_ = 0;
  std::atomic<std::uint64_t> begun_{0};
};

}  // namespace tmpi::mpi::remote
