#include "timers/perf_event.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "base/platform.hpp"

namespace tmpi::timers {
namespace {

std::string paranoid_level() {
  char text[16] = {};
  const int fd = ::open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return "unknown: is this a kernel without perf events?";
  const ssize_t length = ::read(fd, text, sizeof text - 1);
  close(fd);
  return std::string(text, length > 0 && text[length - 1] == '\n'
                               ? static_cast<std::size_t>(length - 1)
                               : static_cast<std::size_t>(length > 0 ? length : 0));
}

std::size_t page_size() noexcept {
  return static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void fence() noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

}  // namespace

std::string perf_event_problem(int error) {
  switch (error) {
    case ENOENT:
    case EOPNOTSUPP:
    case ENODEV:
      return "this machine's processor does not offer it (virtual machines often have no performance "
             "counters); "
             "task-clock, page-faults and context-switches are there on every machine";
    case EACCES:
    case EPERM:
      return "the kernel does not permit it (/proc/sys/kernel/perf_event_paranoid is " + paranoid_level() +
             "): have it set to 2 or less, or, in a container, the system call perf_event_open allowed";
    case EMFILE:
    case ENFILE:
      return "no free file descriptor: a counter takes one per core; see ulimit -n";
    default:
      return std::string("perf_event_open failed: ") + strerror(error);
  }
}

Result<std::unique_ptr<PerfEvent>> PerfEvent::open(std::uint64_t config) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.config = config;
  attributes.pinned = 1;  // all the time or not at all: estimates of a shared counter have no meaning here
  attributes.exclude_kernel = 1;  // what an ordinary user may count
  attributes.exclude_hv = 1;
  const int fd = static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
  if (fd < 0) return Failure{perf_event_problem(errno)};
  std::unique_ptr<PerfEvent> event(new PerfEvent(fd));
  void* page = mmap(nullptr, page_size(), PROT_READ, MAP_SHARED, fd, 0);
  if (page != MAP_FAILED) event->page_ = static_cast<perf_event_mmap_page*>(page);
  return event;
}

PerfEvent::~PerfEvent() {
  if (page_ != nullptr) munmap(page_, page_size());
  close(fd_);
}

bool PerfEvent::reads_in_user_space() const noexcept {
  const volatile perf_event_mmap_page* page = page_;
  return page != nullptr && page->cap_user_rdpmc && page->index != 0;
}

bool PerfEvent::read(std::uint64_t& value) const noexcept {
  // The protocol of linux/perf_event.h: the kernel changes `lock` around every change of the page, on this
  // very processor, so compiler fences are enough.
  if (const volatile perf_event_mmap_page* page = page_) {
    std::uint32_t before = 0, index = 0;
    std::int64_t count = 0;
    do {
      before = page->lock;
      fence();
      index = page->cap_user_rdpmc ? page->index : 0;
      count = page->offset;
      if (index != 0) {
        const int unused = 64 - page->pmc_width;
        const std::uint64_t raw = performance_counter(static_cast<int>(index - 1));
        count += static_cast<std::int64_t>(raw << unused) >> unused;
      }
      fence();
    } while (page->lock != before);
    if (index != 0) {
      value = static_cast<std::uint64_t>(count);
      return true;
    }
  }
  // A pinned event that found no counter reads as end of file.
  return ::read(fd_, &value, sizeof value) == static_cast<ssize_t>(sizeof value);
}

}  // namespace tmpi::timers
