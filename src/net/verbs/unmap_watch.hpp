// UnmapWatch: tells when watched memory is unmapped, moved or given back to the system, by whomever: the program, the
// C library's allocator, the kernel on behalf of another call. A registration of such memory refers to pages that are
// no longer what the program sees there.
//
// It uses userfaultfd(2): the system tells a descriptor of what happens to a watched range, and does not let munmap()
// return before that has been read. A thread of its own reads it. Nothing is ever caught or protected: the range is
// watched in the write-protect mode, and no page is write-protected.
//
// But another thread may be given the addresses before, since they are free when the event is made. Whether that may be
// is known without asking as long as unmappings are announced (unmap_hooks.hpp).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace tmpi::net::verbs {

class UnmapWatch {
 public:
  struct Range {
    std::uintptr_t begin = 0, end = 0;
  };

  virtual ~UnmapWatch() = default;
  /// Watches [begin, end), whole pages. False: memory of this kind cannot be watched.
  virtual bool watch(std::uintptr_t begin, std::uintptr_t end) noexcept = 0;
  /// Watched memory of which all pages are there: whether more could happen to them than next() tells. Others may remove
  /// pages of memory that is shared (ftruncate, shmdt), without any call about this range.
  virtual bool is_shared(std::uintptr_t begin, std::uintptr_t end) noexcept = 0;
  /// Not any longer; what of it has been unmapped since may be somebody else's by now.
  virtual void unwatch(std::uintptr_t begin, std::uintptr_t end) noexcept = 0;
  /// What has gone since: everything that was unmapped before the call, by this thread or one that it has heard
  /// from, or whose addresses it has been given. False: nothing more. One thread at a time. No system call, unless
  /// somebody is unmapping memory at this moment, or may be without saying so.
  virtual bool next(Range& gone) noexcept = 0;
  /// How often next() has asked the system.
  virtual std::uint64_t asked() const noexcept = 0;

  /// Null: the system does not tell; `why` says why not. `before_reading`, for tests: called by the thread that reads,
  /// when there is something to be read.
  static std::unique_ptr<UnmapWatch> create(std::string& why, void (*before_reading)() = nullptr);
};

}  // namespace tmpi::net::verbs
