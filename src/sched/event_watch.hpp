// EventWatch: where the one sleeping worker that watches the event source sleeps: woken by its inbox's bell
// as all sleepers are, and by the source.
#pragma once

#include <atomic>
#include <cstdint>

#include "sched/inbox.hpp"
#include "sched/scheduler.hpp"

namespace tmpi::sched {

class EventWatch {
 public:
  ~EventWatch();
  /// Before the workers run.
  void set(const EventSource& source);

  /// Sleeps until the bell of `inbox` has rung more than `rung` times, the source has something, or (0:
  /// never) `nanoseconds` have passed; may return early. False, and nothing has happened, if there is no
  /// source or another worker watches it. Any worker.
  bool sleep(Inbox& inbox, std::uint32_t rung, std::uint64_t nanoseconds) noexcept;

 private:
  void wait(Inbox& inbox, std::uint32_t rung, std::uint64_t nanoseconds) const noexcept;

  EventSource source_;
  int bell_fd_ = -1;                // an eventfd
  std::atomic<bool> taken_{false};  // acquire, release: one watcher after another uses bell_fd_
};

}  // namespace tmpi::sched
