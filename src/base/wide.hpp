// Wide: sixteen bytes that one instruction compares and exchanges; what the standard's atomics of that size call a
// library for. Another processor needs its own (docs/design/architecture.md, What a port needs).
#pragma once

#include <cstdint>

namespace tmpi {

struct alignas(16) Wide {
  std::uint64_t half[2];
};

/// Its halves, one after the other: perhaps not of the same moment. Relaxed.
inline Wide load_halves(const Wide& from) noexcept {
  return {
      {__atomic_load_n(&from.half[0], __ATOMIC_RELAXED), __atomic_load_n(&from.half[1], __ATOMIC_RELAXED)}};
}

/// `to` becomes `desired` if it is `expected`; else that gets what it is. Sequentially consistent; against atomic
/// operations on parts of the block, too.
inline bool compare_exchange_wide(Wide& to, Wide& expected, const Wide& desired) noexcept {
  bool done;
  __asm__ volatile("lock cmpxchg16b %1"
                   : "=@ccz"(done), "+m"(to), "+a"(expected.half[0]), "+d"(expected.half[1])
                   : "b"(desired.half[0]), "c"(desired.half[1])
                   : "memory");
  return done;
}

}  // namespace tmpi
