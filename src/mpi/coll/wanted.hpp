// Wanted: the algorithms of collectives that somebody has chosen for one communicator (a tool, by a control variable), in
// the place of those of --coll. All members choose alike, when none of the communicator's collectives is under way.
#pragma once

#include <array>

#include "mpi/coll/algorithm.hpp"

namespace tmpi::mpi {

struct WantedAlgorithms {
  std::array<const Algorithm*, kCollectives> by_collective{};  ///< null: no choice
  unsigned changes = 0;                                        ///< number of calls of want_algorithm()
  unsigned seen = 0;  ///< of a shadow: those that its remembered choices know of
};

/// From the next collective on; null: as if nothing had been chosen. May allocate. `comm` is no shadow.
void want_algorithm(Comm& comm, Collective collective, const Algorithm* algorithm);
/// Null: none has been chosen for the communicator.
const Algorithm* wanted_algorithm(const Comm& comm, Collective collective) noexcept;

/// Before a shadow's collective begins: it forgets what it remembers of other choices.
void follow_choices(Comm& shadow);

}  // namespace tmpi::mpi
