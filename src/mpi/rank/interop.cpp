#include "mpi/rank/interop.hpp"

#include "mpi/rank/rank.hpp"
#include "mpi/rank/threads.hpp"

namespace tmpi::mpi {

Interop& interop() noexcept {
  static Interop outside;
  Rank* rank = calling_rank();
  return rank != nullptr ? rank->interop : outside;
}

}  // namespace tmpi::mpi
