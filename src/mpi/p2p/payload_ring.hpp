// PayloadRing: where the payload of a channel's messages lies that does not fit its slots. Whole cache lines,
// one after the other, so that the processor fetches ahead on both sides, and nothing goes from hand to hand
// but them: a cell from the sender's stock would bring its links along, and go back by the depot.
//
// Used by the sender alone. What lies there the reader finds by the address in the slot, and gives it free by
// delivering the message.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/platform.hpp"

namespace tmpi::mpi {

class PayloadRing {
 public:
  static constexpr std::uint32_t kLines = 512;
  /// Bytes that one message may have; a fraction, so that many fit.
  static constexpr std::uint32_t kMost = kLines * kCacheLine / 8;

  /// Nothing lies here any more.
  void clear() noexcept { freed_ = written_, first_ = count_ = 0; }

  /// Room for the payload of message `number`, later than all before; null if there is none.
  std::byte* take(std::uint32_t number, std::uint32_t bytes) noexcept {
    const std::uint32_t lines = (bytes + kCacheLine - 1) / kCacheLine, at = written_ % kLines;
    const std::uint32_t skipped = at + lines > kLines ? kLines - at : 0;  // not around the end
    if (count_ == kMessages || written_ - freed_ + skipped + lines > kLines) return nullptr;
    written_ += skipped;
    std::byte* const room = &lines_[written_ % kLines * kCacheLine];
    written_ += lines;
    taken_[(first_ + count_++) % kMessages] = {number, written_};
    return room;
  }

  /// All messages up to `number`, modulo 2^32, have been delivered.
  void delivered(std::uint32_t number) noexcept {
    while (count_ > 0 && static_cast<std::int32_t>(number - taken_[first_].number) >= 0) {
      freed_ = taken_[first_].end;
      first_ = (first_ + 1) % kMessages;
      --count_;
    }
  }

  /// Begins to fetch the lines that the next messages will be written to, as many as the last one had.
  void fetch_ahead(std::uint32_t bytes) const noexcept {
    const std::uint32_t lines = (bytes + kCacheLine - 1) / kCacheLine;
    if (written_ - freed_ + kAhead + lines > kLines) return;  // they may not have been read yet
    for (std::uint32_t i = 0; i < lines; ++i)
      fetch_for_writing(&lines_[(written_ + kAhead + i) % kLines * kCacheLine]);
  }

  static constexpr std::uint32_t kMessages = 256;

 private:
  static constexpr std::uint32_t kAhead = 12;  // lines
  struct Taken {
    std::uint32_t number;
    std::uint32_t end;  // of its lines
  };

  // Counted in lines, modulo 2^32, of which kLines is a divisor.
  std::uint32_t written_ = 0;
  std::uint32_t freed_ = 0;
  std::uint32_t first_ = 0, count_ = 0;  // of `taken_`
  std::array<Taken, kMessages> taken_{};
  alignas(kCacheLinePair) std::array<std::byte, kLines * kCacheLine> lines_{};
};

}  // namespace tmpi::mpi
