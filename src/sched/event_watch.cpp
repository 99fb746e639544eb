#include "sched/event_watch.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

namespace tmpi::sched {

EventWatch::~EventWatch() {
  if (bell_fd_ >= 0) close(bell_fd_);
}

void EventWatch::set(const EventSource& source) {
  source_ = source;
  if (bell_fd_ < 0) bell_fd_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
}

bool EventWatch::sleep(Inbox& inbox, std::uint32_t rung, std::uint64_t nanoseconds) noexcept {
  if (source_.arm == nullptr || taken_.load(std::memory_order_relaxed) ||
      taken_.exchange(true, std::memory_order_acquire))
    return false;
  inbox.ring_also(bell_fd_);
  wait(inbox, rung, nanoseconds);
  inbox.ring_also(-1);
  taken_.store(false, std::memory_order_release);
  return true;
}

void EventWatch::wait(Inbox& inbox, std::uint32_t rung, std::uint64_t nanoseconds) const noexcept {
  // After ring_also(): a bell that rings from here on is heard at the descriptor.
  if (inbox.bell() != rung) return;
  const Arming arming = source_.arm();
  if (arming.ready) return;
  std::uint64_t limit = nanoseconds;
  if (arming.nanoseconds != 0) limit = limit == 0 ? arming.nanoseconds : std::min(limit, arming.nanoseconds);
  const timespec timeout{static_cast<time_t>(limit / 1'000'000'000u),
                         static_cast<long>(limit % 1'000'000'000u)};
  pollfd requests[2] = {{bell_fd_, POLLIN, 0}, {arming.fd, POLLIN, 0}};  // poll ignores a negative descriptor
  if (ppoll(requests, 2, limit == 0 ? nullptr : &timeout, nullptr) <= 0 || requests[0].revents == 0) return;
  std::uint64_t rings;
  [[maybe_unused]] const ssize_t got =
      read(bell_fd_, &rings, sizeof rings);  // also what rang late for the last watcher
}

}  // namespace tmpi::sched
