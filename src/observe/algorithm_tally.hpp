// AlgorithmTally: by which algorithms a rank's blocking collectives have run. A call costs a few nanoseconds; memory is taken with the first one.
// Does not suspend; where there is no memory nothing is counted.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <new>
#include <string_view>

#include "mpi/coll/algorithm.hpp"

namespace tmpi::observe {

struct AlgorithmSum {
  const mpi::Algorithm* algorithm = nullptr;  ///< null: the end of the list
  std::uint64_t calls = 0;
  std::uint64_t bytes = 0;
  std::uint64_t wall = 0;  ///< ticks
};

class AlgorithmTally {
 public:
  static constexpr std::size_t kMost = 64;  ///< further ones are not counted

  void add(const mpi::Algorithm* algorithm, std::uint64_t bytes, std::uint64_t wall) noexcept {
    if (sums_ == nullptr) sums_.reset(new (std::nothrow) Sums);
    if (sums_ == nullptr || algorithm == nullptr) return;
    for (AlgorithmSum& sum : *sums_) {
      if (sum.algorithm != algorithm && sum.algorithm != nullptr) continue;
      sum.algorithm = algorithm;
      ++sum.calls;
      sum.bytes += bytes;
      sum.wall += wall;
      return;
    }
  }
  template <class Visit>
  void for_each(Visit visit) const {
    if (sums_ == nullptr) return;
    for (const AlgorithmSum& sum : *sums_) {
      if (sum.algorithm != nullptr) visit(sum);
    }
  }

 private:
  using Sums = std::array<AlgorithmSum, kMost>;
  std::unique_ptr<Sums> sums_;
};

/// Of "MPI_Allreduce", "MPI_Gatherv", "MPI_Bcast_c": mpi::Collective as a number; -1: it is no blocking collective.
int collective_of(std::string_view function);

}  // namespace tmpi::observe
