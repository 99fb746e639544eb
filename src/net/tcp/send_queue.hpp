// SendQueue: what is on its way to one peer and has not yet been taken by the socket, in order. Small
// messages lie copied one behind the other and leave together; large ones are referred to where the user has
// them. No socket in here.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "net/transport.hpp"

namespace tmpi::net::tcp {

/// The parts of a message from byte `skip` on.
struct Outgoing {
  std::span<const std::byte> head;  ///< frame header and message header
  std::span<const iovec> payload;
  std::size_t skip = 0;  ///< bytes of head and payload, in this order, that have left already
};

class SendQueue {
 public:
  SendQueue() = default;
  SendQueue(const SendQueue&) = delete;
  SendQueue& operator=(const SendQueue&) = delete;
  ~SendQueue();

  bool empty() const noexcept { return first_ == nullptr; }
  std::size_t copied() const noexcept { return copied_; }          ///< bytes that lie here
  std::size_t references() const noexcept { return references_; }  ///< messages that lie with the user

  void copy(const Outgoing& message);
  /// The payload must stay until the completion is called.
  void refer(const Outgoing& message, Completion& completion);

  /// What to send next, at most `most` pieces and about `bytes` bytes. Returns how many pieces.
  std::size_t gather(iovec* pieces, std::size_t most, std::size_t bytes) const noexcept;
  /// So many of those bytes have left. Calls completions, which may append to the queue.
  void sent(std::size_t bytes) noexcept;
  /// Forgets everything; completions are called.
  void drop() noexcept;

 private:
  struct Block {
    std::unique_ptr<Block> next;
    std::vector<std::byte> bytes;  // copied
    std::size_t bytes_gone = 0;
    std::vector<iovec> parts;  // behind them; the present one is shortened as it leaves
    std::size_t parts_gone = 0;
    Completion* completion = nullptr;

    bool over() const noexcept { return bytes_gone == bytes.size() && parts_gone == parts.size(); }
  };
  static constexpr std::size_t kBlockBytes = 64 << 10;
  static constexpr std::size_t kSpareBlocks = 8;

  Block& append();
  void pop() noexcept;

  std::unique_ptr<Block> first_;
  Block* last_ = nullptr;
  std::vector<std::unique_ptr<Block>> spare_;  // with their memory
  std::size_t copied_ = 0;
  std::size_t references_ = 0;
};

}  // namespace tmpi::net::tcp
