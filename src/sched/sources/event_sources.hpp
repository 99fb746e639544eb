// What comes to a worker from others: by the MPI layer's channels, and from outside the process (hooks.hpp).
#pragma once

#include <atomic>
#include <cstdint>

#include "sched/hooks.hpp"
#include "sched/progress.hpp"
#include "sched/sources/source.hpp"

namespace tmpi::sched {

/// What other workers have left outside of the inbox.
class ChannelSource final : public Source {
 public:
  explicit ChannelSource(int worker) noexcept : Source(0, Cost::kMemory), worker_(worker) {}
  void set(DrainHook hook) noexcept { hook_ = hook; }
  bool has_hook() const noexcept { return hook_ != nullptr; }
  bool look() noexcept override TMPI_REQUIRES(inside_worker) {
    look_again();
    return false;
  }
  bool look_again() noexcept override TMPI_REQUIRES(inside_worker) { return hook_(worker_); }

 private:
  const int worker_;
  DrainHook hook_ = nullptr;
};

/// The network.
class NetworkSource final : public Source {
 public:
  NetworkSource() noexcept : Source(0, Cost::kMore) {}
  void set(const EventSource& source) noexcept { source_ = source; }
  bool is_there() const noexcept { return source_.poll != nullptr; }
  bool look() noexcept override TMPI_REQUIRES(inside_worker) {
    looks_.store(looks_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return source_.poll();
  }
  /// So often has the worker looked. Any thread.
  std::uint64_t looks() const noexcept { return looks_.load(std::memory_order_relaxed); }
  /// Who has slept goes to work: perhaps nobody watches the network any more. seq_cst: the progress thread may be about to
  /// sleep.
  void leave_to_progress() const noexcept {
    if (source_.expected != nullptr && source_.expected->load(std::memory_order_seq_cst) > 0) call_progress();
  }

 private:
  EventSource source_;
  std::atomic<std::uint64_t> looks_{0};  // relaxed: written inside, read as a figure
};

}  // namespace tmpi::sched
