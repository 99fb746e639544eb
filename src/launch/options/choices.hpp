// What --map-by and --bind-to let users choose. (--sched, --rndv and --net: sched/policies.hpp,
// mpi/remote/rendezvous.hpp, net/transports.hpp.)
#pragma once

#include <cstdint>

#include "base/choices.hpp"

namespace tmpi::launch {

/// Which node process runs which rank.
enum class MapBy : std::uint8_t {
  kBlock,   ///< neighbouring ranks together: the first node process is filled first
  kCyclic,  ///< round-robin: the next rank on the next node process
};

inline constexpr Choice<MapBy> kMapBy[] = {
    {"block", MapBy::kBlock, "neighbouring ranks together", ""},
    {"cyclic", MapBy::kCyclic, "the next rank on the next node process", ""},
    {"node", MapBy::kCyclic, "what Open MPI calls cyclic", ""},
};

/// What a worker is bound to.
enum class Binding : std::uint8_t { kCore, kNone };

inline constexpr Choice<Binding> kBindings[] = {
    {"core", Binding::kCore, "each worker is pinned to a core of its own", ""},
    {"none", Binding::kNone, "the operating system moves workers", ""},
};

}  // namespace tmpi::launch
