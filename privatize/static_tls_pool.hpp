// StaticTlsPool: thread-local memory at a fixed distance from the thread pointer, set aside in the node
// executable for images whose code uses the initial-exec model (libgomp). Each rank gets its own share, so
// addresses of such variables stay distinct although several ranks run on one thread. A rank with a share
// cannot migrate between threads.
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

  /// A share of `size` bytes at the same offset in every thread; never given back. Any thread.
  Result<std::uint64_t> allocate(std::uint64_t size);

  /// Distance of the pool's first byte from the thread pointer (negative, the same in all threads).
  static std::int64_t thread_pointer_offset() noexcept;
  /// Distance of the pool's first byte from the executable's TLS block, which is module 1.
  static Result<std::uint64_t> module_offset();
  /// The calling thread's pool.
  static std::byte* memory() noexcept;

 private:
  // Starts above zero: offset 0 means "none yet" to ImageSet. Relaxed: only the counting must be atomic.
  std::atomic<std::uint64_t> next_{kAlignment};
};

StaticTlsPool& static_tls_pool() noexcept;

}  // namespace tmpi::privatize
