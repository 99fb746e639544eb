// The model of virtualization: how long a program takes with V ranks per core, from one run with V = 1. Arithmetic
// only; all times in seconds, of one core, for the whole run. docs/design/advice.md.
#pragma once

namespace tmpi::advise {

/// The messages between nodes that ask first, of a core: what their protocols take of it. As many come as are sent.
struct Large {
  double number = 0;   ///< of messages
  double bytes = 0;    ///< of one
  double piece = 0;    ///< bytes that are posted at a time with progress beside the ranks
  double step = 0;     ///< what one message on the wire, or piece, takes at either end
  double wake_up = 0;  ///< and a wake-up of the thread
};

/// One run with one rank per core and progress at scheduling points.
struct OneRank {
  double busy = 0;      ///< computing, and running inside the library
  double between = 0;   ///< of that, computed between initiations and their waits
  double waits = 0;     ///< idle in MPI_Wait...: the transfers that were not hidden
  double blocking = 0;  ///< idle in blocking calls
  double moving = 0;    ///< of idle time, in which the core itself has moved data: copies, steps of protocols
  double rest = 0;      ///< that stays as it is
  double turns = 0;     ///< how often it has waited; 0: very often
  Large large;
};

/// How the messages between nodes get on while ranks compute.
enum class Way {
  kAtSchedulingPoints,  ///< rendezvous, by CPUs (--progress poll): each step waits for the end of a slot
  kUnasked,             ///< eager: nothing to do between posting and completion
  kBeside,              ///< --progress thread or core: no step waits
  kReadBeside,          ///< the same, and the receiver reads the data (--rndv read): half of the steps
};

/// What a core does for messages that are not its ranks' own calls: copies, steps of protocols, wake-ups.
double taken_by_messages(const OneRank& run, int vratio, Way way) noexcept;
/// The same work in `vratio` times as many ranks, which divide computation and messages among them.
double with_ranks_per_core(const OneRank& run, int vratio, Way way) noexcept;

}  // namespace tmpi::advise
