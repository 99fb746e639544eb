// Collective reading and writing: two phases (Thakur, Gropp, Lusk 1999). The bytes of the file between the lowest and
// the highest that anybody wants are divided among aggregators, members that read and write for all, at least one
// on each node. Members of an aggregator's own node need not send it anything: it finds their data where they are.
// docs/design/files.md.
#pragma once

#include <span>

#include "mpi/comm/comm.hpp"
#include "mpi/io/independent.hpp"

namespace tmpi::mpi {

/// What the members of `comm`, the file's communicator or a shadow of it, do together.
struct Collection {
  Comm& comm;
  NodeFile& file;
  Manner manner;
  std::span<const int> aggregators;  ///< ascending ranks
};

/// All members, each with its access, or with the error that it has found in its arguments: nobody waits for it then,
/// and the others are told. `done` as in transfer(). SUSPENDS.
Err transfer_all(const Collection& all, Err mine, const Access& access, MPI_Count& done);

}  // namespace tmpi::mpi
