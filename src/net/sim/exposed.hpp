// ExposedTable: which memory of a node others may read by get(). Lies in the node's segment, where readers
// check what they are about to read: a key that is not valid any more, or a range that is not inside, is
// noticed there. Slots are handed out and taken back by the owner's ExposedSlots; any process may check.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "net/transport.hpp"

namespace tmpi::net::sim {

struct ExposedTable {
  static constexpr std::uint32_t kSlots = 65536;

  struct Slot {
    std::atomic<std::uint64_t> generation{0};  ///< odd while the slot is in use
    std::atomic<std::uint64_t> base{0};
    std::atomic<std::uint64_t> bytes{0};
  };
  Slot slots[kSlots];

  /// Is [remote, remote + bytes) inside what the key names, now?
  bool allows(const RemoteKey& key, std::uint64_t remote, std::uint64_t bytes) const noexcept;
};

/// The owner's side. One thread at a time.
class ExposedSlots {
 public:
  explicit ExposedSlots(ExposedTable* table) noexcept : table_(table) {}

  /// None if all slots are in use.
  std::optional<RemoteKey> expose(const void* buffer, std::size_t bytes);
  void conceal(const RemoteKey& key) noexcept;

 private:
  ExposedTable* table_;
  std::uint32_t used_ = 0;           // slots that have ever been used
  std::vector<std::uint32_t> free_;  // of these
};

}  // namespace tmpi::net::sim
