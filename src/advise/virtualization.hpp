// The model of virtualization: how long a program takes with V ranks per core, from one run with V = 1. Arithmetic
// only; all times in seconds, of one core, for the whole run. docs/advice.md.
#pragma once

namespace tmpi::advise {

/// One run with one rank per core and progress at scheduling points.
struct OneRank {
  double busy = 0;      ///< computing, and running inside the library
  double between = 0;   ///< of that, computed between initiations and their waits
  double waits = 0;     ///< idle in MPI_Wait...: the transfers that were not hidden
  double blocking = 0;  ///< idle in blocking calls
  double moving = 0;    ///< of idle time, in which the core itself has moved data: copies, steps of protocols
  double rest = 0;      ///< that stays as it is
};

/// How the messages between nodes get on while ranks compute.
enum class Way {
  kAtSchedulingPoints,  ///< rendezvous, by CPUs (--progress poll): each step waits for the end of a slot
  kUnasked,             ///< eager: nothing to do between posting and completion
  kBeside,              ///< --progress thread or core: no step waits
};

/// The same work in `vratio` times as many ranks, which divide computation and messages among them.
double with_ranks_per_core(const OneRank& run, int vratio, Way way) noexcept;

}  // namespace tmpi::advise
