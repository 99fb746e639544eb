#include "observe/event_ring.hpp"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

namespace tmpi::observe {

Result<void> EventRing::open(std::size_t bytes) {
  capacity_ = bytes < sizeof(Event) ? 1 : bytes / sizeof(Event);
  void* memory = mmap(nullptr, capacity_ * sizeof(Event), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    capacity_ = 0;
    return Failure{std::string("cannot reserve memory for the trace: ") + strerror(errno) +
                   "; choose a smaller --trace-buffer"};
  }
  madvise(memory, capacity_ * sizeof(Event), MADV_HUGEPAGE);  // fewer page faults; no matter if refused
  events_ = static_cast<Event*>(memory);
  return {};
}

EventRing::~EventRing() {
  if (events_ != nullptr) munmap(events_, capacity_ * sizeof(Event));
}

void EventRing::drop(const Event& event) noexcept {
  const bool message = event.kind == EventKind::kSent || event.kind == EventKind::kReceived;
  if (message) {
    dropped_messages_.count({event.context, event.rank, event.peer, event.tag},
                            event.kind == EventKind::kSent);
  }
  // A stretch or a call is written when it ends.
  const std::uint64_t written_at = message ? event.begin : event.end;
  if (written_at > complete_since_) complete_since_ = written_at;
}

}  // namespace tmpi::observe
