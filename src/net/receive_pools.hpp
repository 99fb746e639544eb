// ReceivePools: memory that is posted for what arrives unasked, in pools of buffers of one size which connections share
// (Subramoni et al., sections 3.3 and 4.4; on InfiniBand a shared receive queue each). A connection has a share of a
// pool: so many buffers as it needs at a time. Shares that adapt grow when more messages lie there untaken, and shrink
// when fewer have for a while; a pool without connections stays for some time, the longer the more often it was joined
// (its weight), since a program that has needed it may do so again. docs/design/eager-limit.md.
//
// Not thread-safe. Nothing throws; memory that cannot be had is an answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace tmpi::net {

/// Where buffers come from: may register them with a device.
struct ReceiveMemory {
  std::byte* (*take)(std::size_t bytes) noexcept;  ///< null: there is none
  void (*give_back)(std::byte* buffer, std::size_t bytes) noexcept;
};
/// Pages of the system, there from the start.
extern const ReceiveMemory kPages;

class ReceivePools {
 public:
  static constexpr int kMostPools = 20;
  /// Bytes of all pools together; what does not fit is not posted.
  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 30;
  /// Buffers of a share that adapts, at least.
  static constexpr std::size_t kLeastShare = 8;
  /// Of one that begins; it grows with what is needed.
  static constexpr std::size_t kMostShare = 64;
  static constexpr unsigned kMostWeight = 8;

  struct Pool {
    std::size_t size = 0;  ///< bytes of a buffer; 0: there is no such pool
    int connections = 0;
    std::size_t posted = 0;  ///< buffers that there should be: the sum of the shares
    std::size_t there = 0;   ///< that there are
    unsigned weight = 0;
    unsigned idle_periods = 0;
    std::vector<std::byte*>
        waiting;  ///< those that nothing has arrived in: a ring, so that all are used in turn
    std::size_t first = 0, count = 0;
  };
  struct Share {
    Pool* pool = nullptr;
    std::size_t buffers = 0;
    std::size_t most = 0;  ///< messages untaken at a time in this period, at most
    bool adapts = false;
  };

  explicit ReceivePools(const ReceiveMemory& memory = kPages) : memory_(memory) {}
  ReceivePools(const ReceivePools&) = delete;
  ~ReceivePools();

  /// Makes `share`, which stays where it is until leave(), one of so many buffers of `size` bytes. False, and nothing has
  /// changed: no memory, or too many sizes.
  bool join(Share& share, std::size_t size, std::size_t buffers, bool adapts) noexcept;
  void leave(Share& share) noexcept;

  /// So many messages have come by the share's connection and are untaken. A share that adapts grows, if there is
  /// memory; and so does one that does not, since what is there cannot be refused.
  void need(Share& share, std::size_t messages) noexcept;

  /// A buffer for what arrives; null if all are used. Given back to the same pool.
  std::byte* take(Pool& pool) noexcept;
  void give_back(Pool& pool, std::byte* buffer) noexcept;

  /// To be called once per period: shares shrink, pools that nobody needs go.
  void end_period() noexcept;

  std::uint64_t bytes() const noexcept { return bytes_; }
  std::uint64_t most_bytes() const noexcept { return most_bytes_; }
  int pools() const noexcept;

 private:
  Pool* find(std::size_t size) noexcept;
  bool grow(Pool& pool, std::size_t buffers) noexcept;
  void shrink(Pool& pool, std::size_t buffers) noexcept;
  void drop(Pool& pool, std::byte* buffer) noexcept;

  const ReceiveMemory& memory_;
  Pool pools_[kMostPools];
  std::vector<Share*> watched_;  // those that adapt
  std::uint64_t bytes_ = 0, most_bytes_ = 0;
};

}  // namespace tmpi::net
