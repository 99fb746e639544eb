#include "net/tcp/send_queue.hpp"

#include <algorithm>

namespace tmpi::net::tcp {
namespace {

void append_bytes(std::vector<std::byte>& to, const void* from, std::size_t bytes) {
  const auto* begin = static_cast<const std::byte*>(from);
  to.insert(to.end(), begin, begin + bytes);
}

// Calls use(pointer, bytes) for what is left of the payload behind the first `skip` bytes of it.
template <class Use>
void for_rest(std::span<const iovec> payload, std::size_t skip, Use use) {
  for (const iovec& part : payload) {
    const std::size_t gone = std::min(skip, part.iov_len);
    skip -= gone;
    if (part.iov_len > gone) use(static_cast<std::byte*>(part.iov_base) + gone, part.iov_len - gone);
  }
}

}  // namespace

SendQueue::~SendQueue() {
  while (first_ != nullptr) first_ = std::move(first_->next);  // no recursion along the list
}

SendQueue::Block& SendQueue::append() {
  std::unique_ptr<Block> block;
  if (spare_.empty()) {
    block = std::make_unique<Block>();
  } else {
    block = std::move(spare_.back());
    spare_.pop_back();
  }
  Block* added = block.get();
  (last_ != nullptr ? last_->next : first_) = std::move(block);
  last_ = added;
  return *added;
}

void SendQueue::copy(const Outgoing& message) {
  Block* block = last_;
  if (block == nullptr || block->completion != nullptr || block->bytes.size() >= kBlockBytes)
    block = &append();
  const std::size_t before = block->bytes.size();
  const std::size_t gone = std::min(message.skip, message.head.size());
  append_bytes(block->bytes, message.head.data() + gone, message.head.size() - gone);
  for_rest(message.payload, message.skip - gone,
           [&](const std::byte* part, std::size_t bytes) { append_bytes(block->bytes, part, bytes); });
  copied_ += block->bytes.size() - before;
}

void SendQueue::refer(const Outgoing& message, Completion& completion) {
  Block& block = append();
  const std::size_t gone = std::min(message.skip, message.head.size());
  append_bytes(block.bytes, message.head.data() + gone, message.head.size() - gone);
  for_rest(message.payload, message.skip - gone, [&](std::byte* part, std::size_t bytes) {
    block.parts.push_back({part, bytes});
  });
  block.completion = &completion;
  copied_ += block.bytes.size();
  ++references_;
}

std::size_t SendQueue::gather(iovec* pieces, std::size_t most, std::size_t bytes) const noexcept {
  std::size_t count = 0;
  const auto add = [&](std::byte* part, std::size_t length) {
    pieces[count] = {part, std::min(length, bytes)};
    bytes -= pieces[count++].iov_len;
  };
  for (const Block* block = first_.get(); block != nullptr && count < most && bytes > 0;
       block = block->next.get()) {
    if (block->bytes_gone < block->bytes.size())
      add(const_cast<std::byte*>(block->bytes.data()) + block->bytes_gone,
          block->bytes.size() - block->bytes_gone);
    for (std::size_t i = block->parts_gone; i < block->parts.size() && count < most && bytes > 0; ++i)
      add(static_cast<std::byte*>(block->parts[i].iov_base), block->parts[i].iov_len);
  }
  return count;
}

void SendQueue::sent(std::size_t bytes) noexcept {
  while (first_ != nullptr) {
    Block& block = *first_;
    const std::size_t copied = std::min(bytes, block.bytes.size() - block.bytes_gone);
    block.bytes_gone += copied;
    copied_ -= copied;
    bytes -= copied;
    while (block.parts_gone < block.parts.size() && bytes > 0) {
      iovec& part = block.parts[block.parts_gone];
      const std::size_t piece = std::min(bytes, part.iov_len);
      part.iov_base = static_cast<std::byte*>(part.iov_base) + piece;
      part.iov_len -= piece;
      bytes -= piece;
      if (part.iov_len == 0) ++block.parts_gone;
    }
    if (!block.over()) return;
    pop();
  }
}

void SendQueue::drop() noexcept {
  while (first_ != nullptr) {
    copied_ -= first_->bytes.size() - first_->bytes_gone;
    pop();
  }
}

// Takes the first block out and then tells whoever waits for it, who may append.
void SendQueue::pop() noexcept {
  std::unique_ptr<Block> block = std::move(first_);
  first_ = std::move(block->next);
  if (first_ == nullptr) last_ = nullptr;
  Completion* completion = block->completion;
  if (completion != nullptr) --references_;
  if (spare_.size() < kSpareBlocks) {
    block->bytes.clear();
    block->parts.clear();
    block->bytes_gone = block->parts_gone = 0;
    block->completion = nullptr;
    spare_.push_back(std::move(block));
  }
  if (completion != nullptr) completion->done(*completion);
}

}  // namespace tmpi::net::tcp
