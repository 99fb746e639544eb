#include "net/sim/ring.hpp"

#include <new>

namespace tmpi::net::sim {
namespace {

// An empty ring is begun anew when the writer is further in than this: within the second-level cache.
constexpr std::uint64_t kRewind = 256 * 1024;
// And one that is never empty when the reader is further in than this share of it, and has little before it: what is
// written before that is read finds room at the beginning. Else a wire that is always busy would go through all of the
// ring, whose pages the kernel then has to find, and no cache has.
constexpr std::uint64_t kBusyShare = 8, kLittleShare = 64;

}  // namespace

// Whether to go back to the beginning, from `at`, with what the reader has not read yet left where it is.
bool RingWriter::had_better_rewind(std::uint64_t at) noexcept {
  if (at <= kRewind) return false;
  head_ = state_->head.load(std::memory_order_acquire);  // as in fits()
  const std::uint64_t unread = tail_ - head_;
  return unread == 0 || (unread <= capacity_ / kLittleShare && at >= unread + capacity_ / kBusyShare);
}

bool RingWriter::fits(std::uint64_t bytes) noexcept {
  if (bytes <= capacity_ - (tail_ - head_)) return true;
  // acquire pairs with pop(): the reader is done with the bytes that we shall overwrite.
  head_ = state_->head.load(std::memory_order_acquire);
  if (bytes <= capacity_ - (tail_ - head_)) return true;
  // Either the reader's pop() sees the wish or this load sees what it has popped: seq_cst on both sides.
  state_->writer_waits.store(1, std::memory_order_seq_cst);
  head_ = state_->head.load(std::memory_order_seq_cst);
  return bytes <= capacity_ - (tail_ - head_);
}

Record* RingWriter::reserve(std::uint32_t content) noexcept {
  const std::uint32_t bytes = (static_cast<std::uint32_t>(sizeof(Record)) + content + 63) & ~63u;
  const std::uint64_t at = tail_ % capacity_;
  std::uint64_t skip = at + bytes > capacity_ ? capacity_ - at : 0;
  if (skip == 0 && had_better_rewind(at)) skip = capacity_ - at;
  if (!fits(skip + bytes)) return nullptr;
  if (skip != 0) {
    Record* filler = new (ring_ + at) Record;
    filler->bytes = static_cast<std::uint32_t>(skip);
    tail_ += skip;
  }
  Record* record = new (ring_ + tail_ % capacity_) Record;
  record->bytes = bytes;
  return record;
}

void RingWriter::publish(const Record& record) noexcept {
  tail_ += record.bytes;
  // release pairs with front(): the reader sees the record and its bytes.
  state_->tail.store(tail_, std::memory_order_release);
}

// Relaxed: publish() follows.
void RingWriter::count_unasked() noexcept {
  state_->unasked.store(state_->unasked.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

void RingWriter::end(Life life) noexcept {
  state_->writer.store(life, std::memory_order_release);  // pairs with RingReader::writer()
}

Life RingReader::writer() const noexcept {
  return state_->writer.load(std::memory_order_acquire);
}

// The first record from `place` on, which moves past what is skipped.
Record* RingReader::next_from(std::uint64_t& place) noexcept {
  for (;;) {
    if (place == tail_) {
      tail_ = state_->tail.load(std::memory_order_acquire);  // pairs with publish()
      if (place == tail_) return nullptr;
    }
    auto* record = reinterpret_cast<Record*>(ring_ + place % capacity_);
    if (record->kind != Kind::kSkip) return record;
    place += record->bytes;
  }
}

Record* RingReader::front() noexcept {
  const std::uint64_t before = head_;
  Record* const record = next_from(head_);
  if (head_ != before) state_->head.store(head_, std::memory_order_release);
  return record;
}

Record* RingReader::behind(const Record& record) noexcept {
  const auto offset = static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(&record) - ring_);
  std::uint64_t place = head_ + (offset + capacity_ - head_ % capacity_) % capacity_ + record.bytes;
  return next_from(place);
}

bool RingReader::pop() noexcept {
  head_ += reinterpret_cast<Record*>(ring_ + head_ % capacity_)->bytes;
  // seq_cst pairs with RingWriter::fits().
  state_->head.store(head_, std::memory_order_seq_cst);
  if (state_->writer_waits.load(std::memory_order_seq_cst) == 0) return false;
  // Half of the ring at a time: a writer that is told of every record would be woken for every record.
  tail_ = state_->tail.load(std::memory_order_acquire);
  if (tail_ - head_ > capacity_ / 2) return false;
  state_->writer_waits.store(0, std::memory_order_relaxed);
  return true;
}

}  // namespace tmpi::net::sim
