// PerfEvent: one of the processor's counters, counting the calling thread's user-space execution. Read by
// rdpmc where the kernel allows it (about 20 ns), else by read(2). The platform's side of counters; x86-64
// Linux.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.hpp"

struct perf_event_mmap_page;

namespace tmpi::timers {

class PerfEvent {
 public:
  /// Counts the generic hardware event `config` (PERF_COUNT_HW_*) for the calling thread from now on. The
  /// failure's sentence tells apart: the machine has no such counter, the kernel does not permit it.
  static Result<std::unique_ptr<PerfEvent>> open(std::uint64_t config);
  ~PerfEvent();
  PerfEvent(const PerfEvent&) = delete;
  PerfEvent& operator=(const PerfEvent&) = delete;

  /// By the thread that has opened it. False if the processor has no free counter for it.
  bool read(std::uint64_t& value) const noexcept;
  /// True if read() needs no system call.
  bool reads_in_user_space() const noexcept;

 private:
  explicit PerfEvent(int fd) noexcept : fd_(fd) {}

  int fd_;
  perf_event_mmap_page* page_ = nullptr;  // null: not to be had
};

/// The sentence for perf_event_open(2)'s errno.
std::string perf_event_problem(int error);

}  // namespace tmpi::timers
