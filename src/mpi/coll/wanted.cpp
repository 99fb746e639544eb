#include "mpi/coll/wanted.hpp"

#include <memory>

namespace tmpi::mpi {
namespace {

WantedAlgorithms& wanted_of(Comm& comm) {
  if (comm.wanted == nullptr) comm.wanted = std::make_unique<WantedAlgorithms>();
  return *comm.wanted;
}

}  // namespace

void want_algorithm(Comm& comm, Collective collective, const Algorithm* algorithm) {
  WantedAlgorithms& wanted = wanted_of(comm);
  wanted.by_collective[static_cast<std::size_t>(collective)] = algorithm;
  ++wanted.changes;
  comm.chosen = {};
}

const Algorithm* wanted_algorithm(const Comm& comm, Collective collective) noexcept {
  const Comm& chooser = comm.stands_for != nullptr ? *comm.stands_for : comm;
  return chooser.wanted == nullptr ? nullptr
                                   : chooser.wanted->by_collective[static_cast<std::size_t>(collective)];
}

void follow_choices(Comm& shadow) {
  if (shadow.stands_for == nullptr || shadow.stands_for->wanted == nullptr) return;
  const unsigned changes = shadow.stands_for->wanted->changes;
  WantedAlgorithms& known = wanted_of(shadow);
  if (known.seen == changes) return;
  known.seen = changes;
  shadow.chosen = {};
}

}  // namespace tmpi::mpi
