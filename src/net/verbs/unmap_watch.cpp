#include "net/verbs/unmap_watch.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "base/fd.hpp"
#include "base/own_thread.hpp"
#include "base/platform.hpp"
#include "net/verbs/unmap_hooks.hpp"

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

namespace tmpi::net::verbs {
namespace {

constexpr std::uint64_t kFeatures = UFFD_FEATURE_EVENT_UNMAP | UFFD_FEATURE_EVENT_REMAP |
                                    UFFD_FEATURE_EVENT_REMOVE | UFFD_FEATURE_PAGEFAULT_FLAG_WP;

class KernelWatch final : public UnmapWatch {
 public:
  KernelWatch(Fd fd, Fd pages, Fd stop, void (*before_reading)()) noexcept
      : stop_(std::move(stop)),
        pages_(std::move(pages)),
        fd_(std::move(fd)),
        before_reading_(before_reading) {}

  bool start() noexcept { return running_ = start_own_thread(&run, this); }

  ~KernelWatch() override {
    if (running_) {
      const std::uint64_t one = 1;
      while (write(stop_.get(), &one, sizeof one) < 0 && errno == EINTR) {
      }
      while (!stopped_.load(std::memory_order_acquire)) std::this_thread::yield();  // pairs with run()
    }
  }

  bool watch(std::uintptr_t begin, std::uintptr_t end) noexcept override {
    uffdio_register range{};
    range.range = {begin, end - begin};
    range.mode = UFFDIO_REGISTER_MODE_WP;
    return ioctl(fd_.get(), UFFDIO_REGISTER, &range) == 0;
  }

  bool is_shared(std::uintptr_t begin, std::uintptr_t end) noexcept override {
    constexpr std::uint64_t kOfFile = std::uint64_t{1} << 61;  // or of shared memory; see proc_pid_pagemap(5)
    std::array<std::uint64_t, 512> entries;
    for (std::uintptr_t at = begin; at < end; at += entries.size() * kPageSize) {
      const std::size_t count = std::min(entries.size(), (end - at) / kPageSize);
      const auto bytes = static_cast<ssize_t>(count * sizeof entries[0]);
      if (pread(pages_.get(), entries.data(), count * sizeof entries[0],
                static_cast<off_t>(at / kPageSize * sizeof entries[0])) != bytes)
        return true;
      if (std::any_of(entries.begin(), entries.begin() + static_cast<std::ptrdiff_t>(count),
                      [](std::uint64_t entry) { return (entry & kOfFile) != 0; }))
        return true;
    }
    return false;
  }

  void unwatch(std::uintptr_t begin, std::uintptr_t end) noexcept override {
    uffdio_range range{begin, end - begin};
    ioctl(fd_.get(), UFFDIO_UNREGISTER, &range);  // fails if nothing of the range is left
  }

  // An unmapping that has returned has been read, hence reading_ was odd before it returned, and stays so until the
  // range is in the ring. So: first whether one is under way, then reading_, then the ring.
  bool next(Range& gone) noexcept override {
    while (may_be_unmapping() && unmapping()) std::this_thread::yield();
    // seq_cst pairs with read_events()
    while ((reading_.load(std::memory_order_seq_cst) & 1) != 0) std::this_thread::yield();
    const std::uint64_t untold = untold_unmappings();
    const bool any_untold = std::exchange(untold_, untold) != untold;
    if (overflow_.exchange(false, std::memory_order_acquire) || any_untold) {  // pairs with note()
      head_ = tail_.load(std::memory_order_acquire);
      gone = {0, UINTPTR_MAX};
      read_.store(head_, std::memory_order_release);
      return true;
    }
    if (head_ == tail_.load(std::memory_order_acquire)) return false;  // pairs with note()
    gone = ring_[head_++ % ring_.size()];
    read_.store(head_, std::memory_order_release);  // pairs with note()
    return true;
  }

  std::uint64_t asked() const noexcept override { return asked_; }

 private:
  // Somebody may have unmapped memory, and another got its addresses, while its event has not been read.
  bool may_be_unmapping() const noexcept {
    return unmapping_is_announced() || !unmappings_are_announced() ||
           unannounced_.load(std::memory_order_relaxed);
  }

  // Somebody has unmapped or moved watched memory, and its event has not been read. The kernel says so before it looks
  // at the range, of which there is none here.
  bool unmapping() noexcept {
    ++asked_;
    uffdio_writeprotect none{};
    return ioctl(fd_.get(), UFFDIO_WRITEPROTECT, &none) != 0 && errno == EAGAIN;
  }

  static void* run(void* self) {
    static_cast<KernelWatch*>(self)->serve();
    return nullptr;
  }

  // Neither this nor what it calls allocates or frees: the thread that it would then wait for is itself.
  void serve() noexcept {
    pollfd watched[2] = {{fd_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    while (watched[1].revents == 0) {
      if (poll(watched, 2, -1) < 0 && errno != EINTR) break;
      if (watched[0].revents == 0) continue;
      if (before_reading_ != nullptr) before_reading_();
      // Whoever has said that he unmaps memory waits in the system until his event is read.
      if (!unmapping_is_announced()) unannounced_.store(true, std::memory_order_relaxed);
      read_events();
    }
    stopped_.store(true, std::memory_order_release);
  }

  void read_events() noexcept {
    reading_.fetch_add(1, std::memory_order_seq_cst);  // odd; pairs with next()
    uffd_msg events[16];
    const ssize_t got = read(fd_.get(), events, sizeof events);
    for (ssize_t i = 0; i < got / static_cast<ssize_t>(sizeof events[0]); ++i) {
      const uffd_msg& event = events[i];
      if (event.event == UFFD_EVENT_REMAP)
        note(event.arg.remap.from, event.arg.remap.from + event.arg.remap.len);
      if (event.event == UFFD_EVENT_UNMAP || event.event == UFFD_EVENT_REMOVE)
        note(event.arg.remove.start, event.arg.remove.end);
    }
    reading_.fetch_add(1, std::memory_order_seq_cst);
  }

  void note(std::uintptr_t begin, std::uintptr_t end) noexcept {
    const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
    if (tail - read_.load(std::memory_order_acquire) == ring_.size()) {  // pairs with next()
      overflow_.store(true, std::memory_order_release);
      return;
    }
    ring_[tail % ring_.size()] = {begin, end};
    tail_.store(tail + 1, std::memory_order_release);  // pairs with next()
  }

  const Fd stop_, pages_;
  const Fd fd_;  // closed first: whoever waits for an event to be read goes on
  void (*const before_reading_)();
  bool running_ = false;
  std::uint64_t asked_ = 0;
  std::uint64_t untold_ = untold_unmappings();
  std::atomic<bool> unannounced_{false};  // somebody unmaps memory by system calls of his own
  std::atomic<bool> stopped_{false};
  alignas(kCacheLine) std::atomic<std::uint64_t> reading_{
      0};  // odd while an event has been read and not noted
  std::atomic<std::uint64_t> tail_{0};
  std::atomic<bool> overflow_{false};
  alignas(kCacheLine) std::atomic<std::uint64_t> read_{0};  // head_, for the other side
  std::uint64_t head_ = 0;
  std::array<Range, 1024> ring_;
};

}  // namespace

std::unique_ptr<UnmapWatch> UnmapWatch::create(std::string& why, void (*before_reading)()) {
  Fd fd(static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY)));
  if (!fd) {
    why = fmt::format("userfaultfd: {}", std::strerror(errno));
    return nullptr;
  }
  uffdio_api agreed{};
  agreed.api = UFFD_API;
  agreed.features = kFeatures;
  Fd stop(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  Fd pages(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  const bool agrees = ioctl(fd.get(), UFFDIO_API, &agreed) == 0;
  if (!agrees || !pages || !stop) {
    why = agrees ? fmt::format("/proc/self/pagemap: {}", std::strerror(errno))
                 : fmt::format("userfaultfd: this kernel does not tell of unmapped memory ({})",
                               std::strerror(errno));
    return nullptr;
  }
  auto watch =
      std::make_unique<KernelWatch>(std::move(fd), std::move(pages), std::move(stop), before_reading);
  if (!watch->start()) {
    why = "no thread to be had";
    return nullptr;
  }
  return watch;
}

}  // namespace tmpi::net::verbs
