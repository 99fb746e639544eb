#include "mpi/rank/attributes.hpp"

#include "mpi/rank/rank.hpp"

namespace tmpi::mpi {

Keyvals& keyvals(Rank& rank) {
  if (rank.keyvals == nullptr) rank.keyvals = std::make_unique<Keyvals>();
  return *rank.keyvals;
}

Bearer bearer_of(Comm& comm) noexcept {
  return {Carrier::kComm, comm.handle, comm.attributes, comm.owner->keyvals};
}

Bearer bearer_of(Datatype& type) {
  Rank& rank = current_rank();
  return {Carrier::kType, type.handle(),
          type.predefined() ? keyvals(rank).of_predefined(type.handle()) : type.attributes(), rank.keyvals};
}

}  // namespace tmpi::mpi
