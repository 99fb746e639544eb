#include "observe/message_tally.hpp"

#include <new>

namespace tmpi::observe {

void MessageTally::count(const MessageKey& key, bool sent) noexcept {
  if (!exact_) return;
  if (counts_ == nullptr) {
    counts_.reset(new (std::nothrow) Count[kCapacity]);
    if (counts_ == nullptr) {
      exact_ = false;
      return;
    }
  }
  std::uint32_t place = static_cast<std::uint32_t>(key.hash()) % kCapacity;
  while (counts_[place].sent + counts_[place].received > 0 && counts_[place].key != key)
    place = (place + 1) % kCapacity;
  Count& count = counts_[place];
  if (count.sent + count.received == 0) {
    // A full table would be searched for ever.
    if (++used_ > kCapacity - kCapacity / 8) {
      exact_ = false;
      return;
    }
    count.key = key;
  }
  ++(sent ? count.sent : count.received);
}

}  // namespace tmpi::observe
