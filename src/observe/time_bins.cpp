#include "observe/time_bins.hpp"

#include <algorithm>

namespace tmpi::observe {

void TimeBins::widen() noexcept {
  for (std::size_t i = 0; i < kBins / 2; ++i)
    bins_[i] = {bins_[2 * i].computing + bins_[2 * i + 1].computing, bins_[2 * i].mpi + bins_[2 * i + 1].mpi};
  std::fill(bins_.begin() + kBins / 2, bins_.end(), Bin{});
  ++shift_;
}

void TimeBins::add(std::uint64_t begin, std::uint64_t end, std::uint64_t inside) noexcept {
  if (end <= begin) return;
  while (end >> shift_ >= kBins) widen();
  inside = std::min(inside, end - begin);
  const double share = static_cast<double>(inside) / static_cast<double>(end - begin);
  for (std::uint64_t from = begin; from < end;) {
    const std::uint64_t bin = from >> shift_;
    const std::uint64_t to = std::min(end, (bin + 1) << shift_);
    // What is left of it goes into the last bin, so that no tick is lost.
    const std::uint64_t part =
        to == end ? inside
                  : std::min(inside, static_cast<std::uint64_t>(share * static_cast<double>(to - from)));
    bins_[bin].mpi += part;
    bins_[bin].computing += to - from - std::min(part, to - from);
    inside -= part;
    from = to;
  }
}

}  // namespace tmpi::observe
