// MessageTally: how many messages of each channel have been forgotten. Fixed capacity: when it is exceeded
// the tally says so, and nobody relies on it. One thread writes; does not suspend; allocates at the first
// count.
#pragma once

#include <cstdint>
#include <memory>

namespace tmpi::observe {

/// Messages with the same key do not overtake one another (MPI report, 3.5).
struct MessageKey {
  std::uint64_t context = 0;
  std::int32_t from = 0;  ///< world ranks
  std::int32_t to = 0;
  std::int32_t tag = 0;

  bool operator==(const MessageKey&) const = default;
  auto operator<=>(const MessageKey&) const =
      default;  // NOLINT(modernize-use-nullptr): 0, with which < compares
  std::uint64_t hash() const noexcept {
    std::uint64_t h = context * 0x9e3779b97f4a7c15u;
    h ^= static_cast<std::uint64_t>(static_cast<std::uint32_t>(from)) << 32 | static_cast<std::uint32_t>(to);
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93u ^ static_cast<std::uint32_t>(tag);
    h *= 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
  }
};

class MessageTally {
 public:
  struct Count {
    MessageKey key;
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
  };

  void count(const MessageKey& key, bool sent) noexcept;
  /// False if there were more channels than it can hold, or no memory.
  bool exact() const noexcept { return exact_; }

  template <class Visit>
  void for_each(Visit visit) const {
    for (std::uint32_t i = 0; counts_ != nullptr && i < kCapacity; ++i) {
      if (counts_[i].sent + counts_[i].received > 0) visit(counts_[i]);
    }
  }

 private:
  static constexpr std::uint32_t kCapacity = 1 << 14;

  std::unique_ptr<Count[]> counts_;
  std::uint32_t used_ = 0;
  bool exact_ = true;
};

}  // namespace tmpi::observe
