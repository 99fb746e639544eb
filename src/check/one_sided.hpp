// EpochAccesses: what the members of a window do with each other's memory between two fences, where nothing orders them. Two that touch
// the same bytes race unless both read, or both are atomic in the same units (MPI report, 12.7). Callers lock; does not suspend.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "check/access.hpp"
#include "check/function.hpp"

namespace tmpi::mpi {
class Datatype;
}

namespace tmpi::check {

/// A call of one-sided communication, as its target's memory sees it.
struct OneSidedAccess {
  Access bytes;                         ///< addresses count from the window's displacement 0
  bool atomic = false;                  ///< an accumulate, fetch-and-op or compare-and-swap
  const mpi::Datatype* unit = nullptr;  ///< of these, where predefined; null: not known
  const Function* function = nullptr;   ///< who, and from where
  const void* site = nullptr;
  int rank = 0;  ///< world rank
};

/// They may be at the same time and the report does not say what comes of it.
bool race(const OneSidedAccess& a, const OneSidedAccess& b);

class EpochAccesses {
 public:
  /// To the memory of member `target`, behind the fence number `fence`. One that races with it; else nothing.
  std::optional<OneSidedAccess> add(std::uint64_t fence, int target, const OneSidedAccess& access);

 private:
  struct Side {
    std::multimap<std::uint64_t, OneSidedAccess> by_begin;
    std::uint64_t longest = 0;
  };
  static constexpr std::size_t kEpochs =
      2;  // members may be at two fences; what lies further back is forgotten
  std::map<std::uint64_t, std::map<int, Side>> epochs_;
};

}  // namespace tmpi::check
