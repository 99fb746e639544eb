// What --map-by, --bind-to, --pid and --sleep let users choose. (--sched, --rndv and --net: sched/policies.hpp,
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

/// What happens on a core while one of its ranks sleeps, or waits for something outside of MPI.
enum class Sleeping : std::uint8_t { kAuto, kHold, kYield };

inline constexpr Choice<Sleeping> kSleeping[] = {
    {"auto", Sleeping::kAuto,
     "a sleep keeps its core, unless the rank's sleeps have kept it from others for 100 ms since they last "
     "ran; a wait "
     "for anything but time lets them run",
     ""},
    {"hold", Sleeping::kHold, "it keeps its core, and the others wait", ""},
    {"yield", Sleeping::kYield, "the others run", ""},
};

/// What getpid() says in a rank.
enum class Pids : std::uint8_t { kRank, kNode };

inline constexpr Choice<Pids> kPids[] = {
    {"rank", Pids::kRank, "an id of the rank's own, above all of the kernel's", ""},
    {"node", Pids::kNode, "that of the node process, the same for all of its ranks", ""},
};

}  // namespace tmpi::launch
