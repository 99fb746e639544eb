// FramePool: the buffers that frames leave from and arrive in, and what libfabric is told to do at a time. One thread at a
// time.
#pragma once

#include <cstddef>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "net/ofi/fabric.hpp"
#include "net/ofi/wire.hpp"

namespace tmpi::net::ofi {

class Link;

/// What libfabric has been told to do. It is named by its address, and lies still until its completion has come; providers
/// write to its first member meanwhile.
struct Work {
  enum class Kind : std::uint8_t { kReceive, kSend, kRead };
  fi_context2 context{};
  Kind kind;
  explicit Work(Kind of) : kind(of) {}
};
static_assert(offsetof(Work, context) == 0);

/// A buffer of kFrameBytes.
struct Frame : Work {
  std::byte* data;
  void* descriptor;      ///< of the registration, null if none is needed
  Link* link = nullptr;  ///< a sent one's
  Frame(Kind of, std::byte* at, void* registered) : Work(of), data(at), descriptor(registered) {}
};

inline FrameHeader header_of(const Frame& frame) noexcept {
  FrameHeader header;
  std::memcpy(&header, frame.data, sizeof header);
  return header;
}

class FramePool {
 public:
  static constexpr std::size_t kSendFrames = 256;

  /// Failure: no memory.
  Result<void> open(Fabric& fabric);

  /// Null: all are on their way.
  Frame* take() noexcept {
    if (free_.empty()) return nullptr;
    Frame* const frame = free_.back();
    free_.pop_back();
    return frame;
  }
  void give_back(Frame* frame) noexcept { free_.push_back(frame); }

  /// So many more buffers for what arrives. Failure: no memory.
  Result<void> add_receives(std::size_t count);
  /// This one's content has been dealt with.
  void repost(Frame* frame) noexcept;
  /// Buffers that libfabric has had no room for.
  void post_left() noexcept;

 private:
  struct Slab {
    std::unique_ptr<std::byte[]> memory;
    Registered registered;
  };
  Result<std::byte*> add_slab(std::size_t frames, std::uint64_t access);

  Fabric* fabric_ = nullptr;
  std::vector<Slab> slabs_;
  std::deque<Frame> frames_;
  std::vector<Frame*> free_;
  std::vector<Frame*> left_;
};

}  // namespace tmpi::net::ofi
