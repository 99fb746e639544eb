// TimeBins: how a worker's time divides into computing and running in MPI, over the job: bins of equal width, which double
// when the job becomes longer than all of them. Ticks since the recording began. One thread writes; does not suspend, does
// not allocate.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tmpi::observe {

class TimeBins {
 public:
  static constexpr std::size_t kBins = 256;
  struct Bin {
    std::uint64_t computing = 0;
    std::uint64_t mpi = 0;
  };

  /// A stretch in which a rank ran; of it, `inside` ran inside MPI: where in it is not known, it is spread evenly.
  void add(std::uint64_t begin, std::uint64_t end, std::uint64_t inside) noexcept;

  std::uint64_t width() const noexcept { return std::uint64_t{1} << shift_; }
  const std::array<Bin, kBins>& bins() const noexcept { return bins_; }

 private:
  static constexpr unsigned kFirstShift = 14;  // some microseconds
  void widen() noexcept;

  unsigned shift_ = kFirstShift;
  std::array<Bin, kBins> bins_{};
};

}  // namespace tmpi::observe
