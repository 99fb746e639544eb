// Segment: the memory of a node that the others write to: one ring from each of them, and what tells them
// about the node. Each node makes its own, without a name anywhere in the file system: another node process
// opens it through /proc/<process>/fd, which the kernel grants to whoever could trace the process, that is,
// to the same user. Nothing listens, so nothing can be sent to a stranger's port; and nothing is left when
// processes are killed.
//
// A number drawn at random tells a node's segment from that of a process which has got its number since.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/fd.hpp"
#include "base/platform.hpp"
#include "base/result.hpp"
#include "net/sim/exposed.hpp"
#include "net/sim/ring.hpp"

namespace tmpi::net::sim {

inline constexpr int kMostNodes = 1024;

/// The first part of a segment.
struct NodeState {
  std::uint64_t mark[2] = {0, 0};  ///< drawn at random
  std::atomic<Life> life{Life::kOpen};

  /// The node sleeps, or is about to, until then; 0: it is awake. The first writer to its inbox that has something for
  /// it before that clears this and wakes it. Partner of `inbox`, both seq_cst: either the node sees the bit in its
  /// inbox or the writer sees that it sleeps.
  alignas(kCacheLine) std::atomic<Nanoseconds> asleep{0};
  /// One bit per node: it has published a record, has made room in our ring to it, or has left.
  alignas(kCacheLine) std::atomic<std::uint64_t> inbox[kMostNodes / 64]{};
  /// The way out of the node's network interface: messages that it sends, and memory that others get.
  alignas(kCacheLine) Interface out;
  alignas(kCacheLine) ExposedTable exposed;

  bool inbox_empty(int nodes) const noexcept {
    for (int word = 0; word < (nodes + 63) / 64; ++word)
      if (inbox[word].load(std::memory_order_seq_cst) != 0) return false;
    return true;
  }
};

/// Owns a mapping.
class Mapping {
 public:
  Mapping() = default;
  Mapping(void* start, std::size_t bytes) noexcept : start_(start), bytes_(bytes) {}
  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  std::byte* at(std::size_t offset) const noexcept { return static_cast<std::byte*>(start_) + offset; }
  explicit operator bool() const noexcept { return start_ != nullptr; }

 private:
  void* start_ = nullptr;
  std::size_t bytes_ = 0;
};

/// A node's own segment.
class Segment {
 public:
  static Result<Segment> create(int nodes);

  NodeState& state() const noexcept { return *reinterpret_cast<NodeState*>(mapping_.at(0)); }
  RingReader from(int node) const noexcept;
  /// Readable when another node has woken this one.
  int wake_descriptor() const noexcept { return wake_in_.get(); }
  void wake_self() const noexcept;
  void clear_wake_ups() const noexcept;
  /// Where the others find it.
  std::string address() const;

 private:
  int nodes_ = 0;
  Fd memory_, wake_in_, wake_out_;  // wake_out_: the pipe's end that is written to
  Mapping mapping_;
};

/// Another node's segment, as far as this node needs it.
class PeerSegment {
 public:
  PeerSegment() = default;
  /// Opens the segment of another node (or of this process) at `address` for `node`, which is us.
  static Result<PeerSegment> open(const std::string& address, int node, int nodes);

  NodeState& state() const noexcept { return *reinterpret_cast<NodeState*>(head_.at(0)); }
  RingWriter writer() const noexcept;
  /// Sets the bit of `node` in the other's inbox, and wakes it if it sleeps for longer than until `due`, when it can do
  /// something about it.
  void notify(int node, Nanoseconds due = 0) const noexcept;
  int process() const noexcept { return process_; }
  /// Readable when the process has ended.
  int process_fd() const noexcept { return process_fd_.get(); }
  explicit operator bool() const noexcept { return static_cast<bool>(head_); }

 private:
  int process_ = 0;
  int nodes_ = 0;
  Fd wake_out_, process_fd_;
  Mapping head_, ring_;
};

/// Is this the address of a segment?
bool is_segment_address(const std::string& address);

}  // namespace tmpi::net::sim
