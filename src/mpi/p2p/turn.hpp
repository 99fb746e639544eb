// Turn: a call that finds at once what it asks for does not suspend, so a rank whose calls all do would keep its core to
// itself. After so many of them the other ranks of its worker run. docs/design/matching.md, "Turns".
#pragma once

#include <cstdint>

#include "mpi/rank/rank.hpp"
#include "sched/task.hpp"

namespace tmpi::mpi {

/// Calls that a rank may make between two turns of others: so few that nobody notices, and so many that the switch does
/// not count.
inline constexpr std::uint32_t kCallsPerTurn = 64;

/// A receive, probe, test or wait has found what it asks for, or a send is done, without a wait. SUSPENDS every now and
/// then; those go first that have been sent much and had no turn (p2p/send.cpp).
[[gnu::always_inline]] inline void found_at_once(Rank& rank) noexcept {
  if (++rank.at_once < kCallsPerTurn && !rank.ahead) [[likely]]
    return;
  rank.others_had_turn();
  sched::yield();
}

}  // namespace tmpi::mpi
