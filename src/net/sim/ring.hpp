// Ring: records from one process to another through memory that both have mapped; one writer, one reader, no
// lock. A record is contiguous and may be up to half of the ring long. Records and what was written before
// publish() are seen by the reader in order. Nothing blocks, nothing is allocated.
//
// Positions count bytes since the start and never wrap. A writer that finds the ring empty, or nearly, goes back to its
// beginning: a pair that exchanges little at a time touches little memory.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/platform.hpp"
#include "net/sim/model.hpp"

namespace tmpi::net::sim {

enum class Kind : std::uint8_t {
  kSkip,      ///< nothing; goes up to the end of the ring
  kFirst,     ///< the beginning of a message, with its header
  kFollowing  ///< the next piece of the message
};

/// Stands before each piece of a message; header and payload bytes follow.
struct alignas(kCacheLine) Record {
  std::uint32_t bytes = 0;  ///< of the record, this included, up to the next multiple of 64
  Kind kind = Kind::kSkip;
  std::uint8_t id = 0;          ///< of the message
  std::uint8_t last = 0;        ///< 1: the message ends here
  std::uint8_t connection = 0;  ///< of the two connections there may be, 0 and 1 in turn
  std::uint32_t header = 0;     ///< bytes
  std::uint32_t data = 0;       ///< bytes of payload in this piece
  std::uint64_t payload = 0;    ///< of the whole message
  Nanoseconds arrives = 0;      ///< when its first byte reaches the other interface

  std::byte* content() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};
static_assert(sizeof(Record) == 64);

/// Whether a node takes part.
enum class Life : std::uint32_t {
  kOpen,
  kClosed,    ///< has sent everything and left
  kAbandoned  ///< has left otherwise
};

/// What writer and reader share; the ring's bytes follow it in the mapping.
struct RingState {
  alignas(kCacheLine) std::atomic<std::uint64_t> tail{0};  ///< written up to here
  std::atomic<Life> writer{Life::kOpen};
  std::atomic<std::uint64_t> unasked{0};  ///< messages that take a receive buffer, since the start
  alignas(kCacheLine) std::atomic<std::uint64_t> head{0};  ///< read up to here
  std::atomic<std::uint32_t> writer_waits{0};  ///< the writer wants to be told when there is room again
};

class RingWriter {
 public:
  RingWriter() = default;
  /// `capacity`: a multiple of 64.
  RingWriter(RingState* state, std::byte* ring, std::uint64_t capacity) noexcept
      : state_(state), ring_(ring), capacity_(capacity) {}

  /// Room for a record with so many bytes behind it, its `bytes` set; null if there is none, and then the
  /// reader will be asked to tell when there is.
  Record* reserve(std::uint32_t content) noexcept;
  /// Shows the reserved record to the reader.
  void publish(const Record& record) noexcept;
  /// The message whose first record is about to be published will take a receive buffer.
  void count_unasked() noexcept;
  /// Nothing more will come.
  void end(Life life) noexcept;

 private:
  bool fits(std::uint64_t bytes) noexcept;
  bool had_better_rewind(std::uint64_t at) noexcept;

  RingState* state_ = nullptr;
  std::byte* ring_ = nullptr;
  std::uint64_t capacity_ = 0;
  std::uint64_t tail_ = 0;
  std::uint64_t head_ = 0;  // as last seen
};

class RingReader {
 public:
  RingReader() = default;
  RingReader(RingState* state, std::byte* ring, std::uint64_t capacity) noexcept
      : state_(state), ring_(ring), capacity_(capacity) {}

  /// The oldest record, null if there is none.
  Record* front() noexcept;
  /// The one behind it, null if there is none.
  Record* behind(const Record& record) noexcept;
  /// Gives its room back. True if the writer waits and had better be told.
  bool pop() noexcept;
  /// To be looked at before front(): what the writer has published before it ended is seen then.
  Life writer() const noexcept;
  /// Messages that take a receive buffer and have been published, since the start.
  std::uint64_t unasked() const noexcept { return state_->unasked.load(std::memory_order_relaxed); }

 private:
  Record* next_from(std::uint64_t& place) noexcept;

  RingState* state_ = nullptr;
  std::byte* ring_ = nullptr;
  std::uint64_t capacity_ = 0;
  std::uint64_t head_ = 0;
  std::uint64_t tail_ = 0;  // as last seen
};

}  // namespace tmpi::net::sim
