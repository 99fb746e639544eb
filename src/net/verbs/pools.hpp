// The buffers of small messages. ReceivePool: those that lie in the shared receive queue; it grows with the peers
// that are connected, by as many buffers as these may fill (credits), so that a message never finds none. SendPool:
// what copies of messages leave from.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "net/verbs/region.hpp"

namespace tmpi::net::verbs {

/// A buffer of the ReceivePool, and what has come in it.
struct Received {
  std::uint32_t buffer = 0;
  std::uint32_t bytes = 0;
};

class ReceivePool {
 public:
  ~ReceivePool();

  static constexpr std::uint32_t kMostTogether = 8;

  /// `most`: buffers that there will ever be; `bytes`: of one, header and all; `together`: so many are posted at a time
  /// when they are free again, kMostTogether at most.
  Result<void> create(const Device& device, std::uint32_t most, std::uint32_t bytes, std::uint32_t together);
  /// Adds buffers. Failure: as of Region::create.
  Result<void> grow(std::uint32_t buffers);
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(places_.size()); }
  std::uint32_t buffer_bytes() const noexcept { return bytes_; }

  std::byte* data(std::uint32_t buffer) const noexcept { return places_[buffer].data; }
  /// The buffer may be filled again, once it has been posted: with the others of its batch, or by post_free(). Less than
  /// a batch lies here at a time, and the pool has as many buffers more than peers may fill.
  void give_back(std::uint32_t buffer) noexcept {
    free_[free_count_++] = buffer;
    if (free_count_ >= together_) post_free();
  }
  /// False: the adapter does not take them (errno), and is of no more use.
  bool post_free() noexcept;
  ibv_srq* queue() const noexcept { return queue_; }

 private:
  struct Place {
    std::byte* data;
    std::uint32_t key;
  };
  const Device* device_ = nullptr;
  ibv_srq* queue_ = nullptr;
  std::uint32_t most_ = 0, bytes_ = 0, together_ = 1;
  std::array<std::uint32_t, kMostTogether> free_{};  // that have not been posted
  std::uint32_t free_count_ = 0;
  std::vector<Place> places_;
  std::vector<Region> regions_;
};

class SendPool {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  Result<void> create(const Device& device, std::uint32_t count, std::uint32_t bytes);
  bool empty() const noexcept { return free_.empty(); }
  /// kNone: all are on their way.
  std::uint32_t take() noexcept {
    if (free_.empty()) return kNone;
    const std::uint32_t buffer = free_.back();
    free_.pop_back();
    return buffer;
  }
  void give_back(std::uint32_t buffer) noexcept { free_.push_back(buffer); }
  std::byte* data(std::uint32_t buffer) const noexcept {
    return region_.data() + std::size_t{buffer} * bytes_;
  }
  std::uint32_t buffer_bytes() const noexcept { return bytes_; }
  std::uint32_t key() const noexcept { return region_.local_key(); }

 private:
  Region region_;
  std::uint32_t bytes_ = 0;
  std::vector<std::uint32_t> free_;
};

}  // namespace tmpi::net::verbs
