// ArrayCopies: the arrays of counts, displacements and datatypes of a call whose operation outlives it. The
// report forbids the user to change them before the operation is complete, but programs do: mpi4py 3.1 frees the
// counts of Ireduce_scatter and Iallgatherv as soon as the call returns, which nobody notices whose schedule is
// made in the call. And whoever learns by MPI_Request_get_status that the operation is complete may free them
// while there is still a request that holds the datatypes.
#pragma once

#include <cstddef>
#include <memory>

#include "mpi/coll/args.hpp"

namespace tmpi::mpi {

class ArrayCopies {
 public:
  /// Copies what `args` names, which names the copies from then on.
  explicit ArrayCopies(Args& args);

 private:
  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace tmpi::mpi
