// EndReason: why this node process ends the job. There is one; whoever claims it first words it, everybody
// else who finds a reason keeps silent and waits for the process's end. Every function is async-signal-safe
// and takes no lock: a crash may happen anywhere.
#pragma once

#include <atomic>
#include <cstddef>

#include "launch/wire/wire.hpp"

namespace tmpi::launch {

class EndReason {
 public:
  static constexpr std::size_t kCapacity = 24 << 10;

  /// The buffer for the sentence, null if another thread was first.
  char* claim() noexcept { return claimed_.exchange(true, std::memory_order_relaxed) ? nullptr : text_; }

  /// The claimed report is complete: the control thread may send it.
  void publish(EndKind kind, int rank, int code, std::size_t length) noexcept {
    kind_ = kind;
    rank_ = rank;
    code_ = code;
    length_ = length;
    ready_.store(true, std::memory_order_release);  // partner: the acquire in ready()
  }

  bool ready() const noexcept { return ready_.load(std::memory_order_acquire); }
  EndKind kind() const noexcept { return kind_; }
  int rank() const noexcept { return rank_; }
  int code() const noexcept { return code_; }
  const char* text() const noexcept { return text_; }
  std::size_t length() const noexcept { return length_; }

 private:
  std::atomic<bool> claimed_{false};
  std::atomic<bool> ready_{false};
  EndKind kind_ = EndKind::kStartFailed;
  int rank_ = -1;
  int code_ = 1;
  std::size_t length_ = 0;
  char text_[kCapacity] = {};
};

}  // namespace tmpi::launch
