// Coverage: which bytes of a window have been filled, by whatever order and overlap. One bit for a byte.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "mpi.h"

namespace tmpi::mpi {

class Coverage {
 public:
  /// For windows of `bytes` bytes.
  explicit Coverage(MPI_Count bytes) : words_(static_cast<std::size_t>(bytes / 64 + 2)) {}

  void add(MPI_Count begin, MPI_Count length) noexcept {
    auto word = static_cast<std::size_t>(begin / 64);
    const int bit = static_cast<int>(begin % 64);
    if (bit + length <= 64) {
      words_[word] |= ones(static_cast<int>(length)) << bit;
      return;
    }
    words_[word++] |= ~std::uint64_t{0} << bit;
    for (length -= 64 - bit; length >= 64; length -= 64) words_[word++] = ~std::uint64_t{0};
    words_[word] |= ones(static_cast<int>(length));
  }

  /// The first byte from `from` on that is covered (or, if not `covered`, is not); `end` if there is none before.
  MPI_Count find(MPI_Count from, MPI_Count end, bool covered) const noexcept {
    while (from < end) {
      const std::uint64_t word = words_[static_cast<std::size_t>(from / 64)];
      const std::uint64_t rest = (covered ? word : ~word) >> (from % 64);
      if (rest != 0) return std::min(end, from + std::countr_zero(rest));
      from = (from / 64 + 1) * 64;
    }
    return end;
  }

  void clear(MPI_Count bytes) noexcept {
    std::fill_n(words_.begin(), static_cast<std::size_t>(bytes / 64 + 1), 0);
  }

 private:
  static std::uint64_t ones(int count) noexcept {
    return count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  }
  std::vector<std::uint64_t> words_;
};

}  // namespace tmpi::mpi
