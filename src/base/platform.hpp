// Platform: what is true of x86-64 under Linux and not of every processor. What a port needs stands here, and
// in the few files that docs/design/architecture.md names ("What a port needs").
//
// Memory order is not among it: atomics say what they need by the C++ memory model, not by what x86-64 does
// anyway.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <cstdint>

#if !defined(__x86_64__) || !defined(__linux__)
#error "tmpi runs on x86-64 Linux only: see docs/design/architecture.md, What a port needs"
#endif

namespace tmpi {

/// As uname -m has it; MPI_INFO_ENV's "arch".
inline constexpr const char* kArchitecture = "x86_64";
/// The folder of this architecture's libraries, on Debian and its relatives; a macro, to be part of literals.
#define TMPI_MULTIARCH "x86_64-linux-gnu"

/// What processors exchange. Data that different workers write lies on lines of its own.
inline constexpr std::size_t kCacheLine = 64;
/// The processor fetches lines in pairs: what must not be disturbed by a neighbour's line lies this far apart.
inline constexpr std::size_t kCacheLinePair = 2 * kCacheLine;

/// The smallest unit of mapping; fixed on x86-64.
inline constexpr std::size_t kPageSize = 4096;

/// In a loop that waits for another processor: saves energy and the other hardware thread's time.
inline void cpu_relax() noexcept {
  __builtin_ia32_pause();
}

/// Begins to fetch the line of `address` for writing, from whichever processor has it. Does not wait, and never
/// faults; nothing on processors that cannot (those before 2014). __builtin_prefetch(address, 1) would fetch it
/// for reading unless the compiler is told to leave those behind.
inline void fetch_for_writing(const void* address) noexcept {
  __asm__ volatile("prefetchw %0" : : "m"(*static_cast<const char*>(address)));
}

/// The compiler moves no access to memory across; nothing for the processor. Where a thread-local is read anew
/// because the fiber may have gone on on another thread.
inline void compiler_barrier() noexcept {
  __asm__ volatile("" ::: "memory");
}

/// A counter that advances at a constant rate, equal on all processors if timers/tsc.hpp says so. About 10 ns,
/// not serializing.
inline std::uint64_t cycle_counter() noexcept {
  return __builtin_ia32_rdtsc();
}

/// Performance counter `index` of this processor (perf_event_mmap_page::index - 1), if the kernel allows it.
inline std::uint64_t performance_counter(int index) noexcept {
  return static_cast<std::uint64_t>(__builtin_ia32_rdpmc(index));
}

/// Address that thread-local variables of initial-exec and local-exec code are relative to: here they lie below
/// it (TLS variant II), and the word at it is the address itself.
inline std::uintptr_t thread_pointer() noexcept {
  std::uintptr_t value;
  __asm__("mov %%fs:0, %0" : "=r"(value));
  return value;
}

/// Where a signal has interrupted a thread, from its handler's context.
inline std::uintptr_t instruction_pointer(const ucontext_t& context) noexcept {
  return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
}
inline std::uintptr_t stack_pointer(const ucontext_t& context) noexcept {
  return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RSP]);
}

}  // namespace tmpi
