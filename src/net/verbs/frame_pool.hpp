// FramePool: the buffers of one size, and the queues of the queue pairs that use them: a shared receive queue, send
// buffers, completion queues. There is one for all peers at first; more where messages of another size come unasked
// (net/reconnection.hpp).
#pragma once

#include <array>
#include <cstdint>

#include "net/verbs/pools.hpp"
#include "net/verbs/wire.hpp"

namespace tmpi::net::verbs {

inline constexpr std::size_t kMostHeader = 256;
/// Receive buffers per peer for frames that take no credit: at most two that return credit are under way, since each
/// returns half of it or more, and one that says goodbye.
inline constexpr std::uint32_t kSpareBuffers = 4;

inline constexpr std::size_t kLargestPayload = 4 << 20;

/// How many frames of this size a peer may have unreceived: 2 MiB of them, or a few if that is less.
constexpr std::uint32_t frames_of(std::size_t payload) noexcept {
  constexpr std::size_t kBytesPerPeer = 2 << 20, kLeast = 4, kMost = 64;
  const std::size_t frames = kBytesPerPeer / payload;
  return static_cast<std::uint32_t>(frames < kLeast ? kLeast : frames > kMost ? kMost : frames);
}

struct FrameSizes {
  std::size_t payload = 0;    ///< bytes of one frame
  std::uint32_t credits = 0;  ///< frames that a peer may have unreceived here
  std::uint32_t depth = 0;    ///< work requests of a queue pair under way
  std::uint32_t peers = 0;    ///< queue pairs, at most
  std::uint32_t send_buffers = 0;
  std::uint32_t together = 1;  ///< receive buffers that are posted again at a time
};

class FramePool {
 public:
  static constexpr int kAtOnce = 32;  ///< completions that are asked for together
  struct Stash {
    std::array<ibv_wc, kAtOnce> entries;
    int count = 0;
  };

  FramePool() = default;
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;
  /// All its queue pairs have gone.
  ~FramePool();
  /// Failure: the adapter has not so much, or not so much memory may be locked.
  Result<void> create(const Device& device, const FrameSizes& sizes);
  /// Buffers for one more queue pair; until leave().
  Result<void> join();
  void leave() noexcept { --users; }

  std::uint32_t frame_bytes() const noexcept { return receives.buffer_bytes(); }
  std::uint64_t bytes() const noexcept { return std::uint64_t{receives.size()} * receives.buffer_bytes(); }

  std::size_t payload = 0;
  std::uint32_t credits = 0, depth = 0, users = 0;
  std::uint32_t unposted =
      0;  ///< receive buffers, at most, that are free and wait to be posted: it has as many more
  ReceivePool receives;
  SendPool sends;
  ibv_cq* received = nullptr;
  ibv_cq* sent = nullptr;
  Stash stashed_received, stashed_sent;  ///< found by arm(), to be dealt with by poll()

 private:
  const Device* device_ = nullptr;
};

}  // namespace tmpi::net::verbs
