#include "launch/control/outbox.hpp"

#include <unistd.h>

#include <cstring>

#include "launch/wire/frames.hpp"

namespace tmpi::launch {

namespace {

constexpr bool can_grow(FrameType type) {
  return type == FrameType::kOutput || type == FrameType::kExits;
}

}  // namespace

Outbox::Outbox(int wake_fd) : wake_fd_(wake_fd) {
  pending_.reserve(kReserved);
}

void Outbox::append(FrameType type, int rank, std::uint16_t detail, std::string_view payload) {
  bool wake = false;
  {
    std::unique_lock lock(mutex_);
    ++waiting_;
    has_room_.wait(lock, [&] { return pending_.size() < kCapacity; });
    --waiting_;
    wake = pending_.empty();
    FrameHeader last{};
    if (last_ != std::string::npos) std::memcpy(&last, pending_.data() + last_, sizeof(last));
    if (last_ != std::string::npos && can_grow(type) && last.type == type && last.rank == rank &&
        last.detail == detail && last.length + payload.size() <= kMaxOutputPayload) {
      last.length += static_cast<std::uint32_t>(payload.size());
      std::memcpy(pending_.data() + last_, &last, sizeof(last));
      pending_.append(payload);
    } else {
      last_ = pending_.size();
      append_frame(pending_, type, rank, detail, payload);
    }
  }
  if (!wake) return;
  const std::uint64_t one = 1;
  // Can only fail when the counter is at its maximum, and then the reader is awake anyway.
  [[maybe_unused]] const ssize_t written = ::write(wake_fd_, &one, sizeof(one));
}

void Outbox::take(std::string& bytes) {
  bool wake = false;
  {
    const std::lock_guard lock(mutex_);
    bytes.swap(pending_);
    last_ = std::string::npos;
    wake = waiting_ > 0;
  }
  if (wake) has_room_.notify_all();
}

}  // namespace tmpi::launch
