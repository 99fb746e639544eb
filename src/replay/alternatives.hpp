// What else the wildcards of a run could have taken. A message is an alternative for a receive if it was there to be
// taken, which is so unless it was sent because the receive had been done: vector clocks tell (Mattern), as in DAMPI (Vo et
// al., SC 2010).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "replay/explored_events.hpp"

namespace tmpi::replay {

/// A receive or probe, or a test or completion (Decides): world rank, and its number among the rank's.
struct Place {
  int rank = 0;
  std::uint32_t number = 0;
  bool receives = true;
  auto operator<=>(const Place&) const = default;
};
/// The message of a receive; or as what a test or completion comes out.
struct Taken {
  int source = 0;
  int tag = 0;
  auto operator<=>(const Taken&) const = default;
};

struct Decision {
  Place place;
  Taken taken;
  std::vector<Taken> others;  ///< one of each other sender; of what might come out all
};

/// The wildcards of a run that have taken something, and its tests and completions, in an order that agrees with what happened before what; of two runs that have
/// decided alike up to some decision, the order is the same so far.
std::vector<Decision> decisions_of(const std::map<int, std::vector<ExploredEvent>>& logs);

}  // namespace tmpi::replay
