// StaticTlsPool: thread-local memory at a fixed distance from the thread pointer, set aside in the node
// executable for images whose code uses the initial-exec model (libgomp). Each rank gets its own share, so
// addresses of such variables stay distinct although several ranks run on one thread. A rank with a share
// cannot migrate between threads. Ranks with a thread pointer of their own have a pool each, and the same share of it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/platform.hpp"
#include "base/result.hpp"

namespace tmpi::privatize {

class StaticTlsPool {
 public:
  static constexpr std::uint64_t kSize = 256 << 10;  ///< per thread of the process
  static constexpr std::uint64_t kAlignment = kCacheLine;
  static constexpr std::uint64_t kProgramAlignment = 4096;  ///< largest of a program's block at the end

  /// A share of `size` bytes at the same offset in every thread; never given back. Any thread.
  Result<std::uint64_t> allocate(std::uint64_t size);

  /// The last `size` bytes, which ends at the thread pointer: where programs that a plain compiler has linked expect
  /// their thread-locals. Given to all of them, since each rank has a pool of its own (own_thread_pointer.hpp). The
  /// offset of the first byte.
  Result<std::uint64_t> take_end(std::uint64_t size);
  /// Whether there is room for a share for each of so many ranks.
  bool has_room(std::uint64_t size, std::uint64_t ranks) const noexcept;
  /// As it must be for take_end(), and is unless the linker has its own ideas.
  static bool ends_at_thread_pointer() noexcept;

  /// Distance of the pool's first byte from the thread pointer (negative, the same in all threads).
  static std::int64_t thread_pointer_offset() noexcept;
  /// Distance of the pool's first byte from the executable's TLS block, which is module 1.
  static Result<std::uint64_t> module_offset();
  /// The calling thread's pool.
  static std::byte* memory() noexcept;

 private:
  // Starts above zero: offset 0 means "none yet" to ImageSet. Relaxed: only the counting must be atomic.
  std::atomic<std::uint64_t> next_{kAlignment};
  std::atomic<std::uint64_t> taken_at_end_{0};  // relaxed, likewise
};

StaticTlsPool& static_tls_pool() noexcept;

}  // namespace tmpi::privatize
