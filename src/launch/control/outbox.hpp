// Outbox: frames on their way from the node process's threads to tmpirun. Any thread appends; the control
// thread takes everything at once, so a burst of short lines costs one system call. Bounded: a rank that
// prints faster than tmpirun's reader reads waits.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "launch/wire/wire.hpp"

namespace tmpi::launch {

class Outbox {
 public:
  /// `wake_fd`: an eventfd that is written when the outbox stops being empty.
  explicit Outbox(int wake_fd);

  /// Adds a frame; bytes of the same rank and stream, and exits, grow the last frame instead. Blocks the OS
  /// thread (not only the fiber) while the outbox is full. Does not suspend. Not async-signal-safe.
  void append(FrameType type, int rank, std::uint16_t detail, std::string_view payload);

  /// Moves everything into `bytes`, which must be empty. Only the control thread.
  void take(std::string& bytes);

  static constexpr std::size_t kCapacity = 1 << 20;
  /// What its buffer has room for from the start: all that waits, a frame of output more, and the report of
  /// the job's end.
  static constexpr std::size_t kReserved = kCapacity + kMaxOutputPayload + (32u << 10);

 private:
  int wake_fd_;
  std::mutex mutex_;
  std::condition_variable has_room_;
  std::string pending_;
  std::size_t last_ = std::string::npos;  // offset of the last frame's header in pending_
  int waiting_ = 0;                       // threads blocked in append()
};

}  // namespace tmpi::launch
