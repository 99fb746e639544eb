// A memory barrier on all threads of the process, asked for by one of them: membarrier(2), Linux 4.14. Of two sides that
// each write and then look at what the other has written, the one that seldom does it calls process_barrier() in
// between; the other one, which does it all the time, then needs no barrier of its own, only quick_barrier().
#pragma once

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace tmpi {

namespace detail {
inline std::atomic<bool> g_process_barrier{false};
}  // namespace detail

/// Before the first process_barrier(); any number of times. False: the kernel does not have the call, or a system-call
/// filter is in the way: then both sides need barriers of their own. The first time takes some 10 ms if the process has
/// several threads (the kernel waits until every CPU has seen it), else nothing.
inline bool enable_process_barrier() noexcept {
  const bool enabled = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  detail::g_process_barrier.store(enabled, std::memory_order_relaxed);
  return enabled;
}

/// Whether enable_process_barrier() has succeeded, and no process_barrier() has been refused since.
inline bool process_barrier_enabled() noexcept {
  return detail::g_process_barrier.load(std::memory_order_relaxed);
}

/// A sequentially consistent fence here and on every thread of the process that runs. Some 0.3 us, more on many cores.
/// False: on the calling thread only, since the program has put a system-call filter in the way meanwhile, or the kernel
/// has no memory; what others have written may then not be seen yet.
[[nodiscard]] inline bool process_barrier() noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);  // for the processor the call is a barrier here, too
  for (int tries = 0; tries < 8; ++tries) {
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0) return true;
    if (errno != ENOMEM) break;
  }
  detail::g_process_barrier.store(false, std::memory_order_relaxed);
  return false;
}

/// The other side: nothing for the processor, and the compiler moves nothing across.
inline void quick_barrier() noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

}  // namespace tmpi
