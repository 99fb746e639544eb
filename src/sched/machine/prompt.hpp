// How threads of the node process that run no ranks share cores with those that do. Internal to sched.
#pragma once

namespace tmpi::sched {

/// Linux' scheduler (EEVDF, since 6.6) lets whoever computes finish its slice of 3 ms first, unless the one who wakes up
/// has asked for a shorter slice (6.12). And who has just had a core must wait for the next tick of the clock, the less
/// the higher its priority. What is refused (a higher priority needs a right, as root has, or ulimit -e) is done without.
/// The timer of a thread that sleeps is late by its slack, 50 us if nothing is said. Of the calling thread.
void ask_to_be_prompt() noexcept;

/// For who always wants a core: from whoever wakes up on the one that it has, it does not get the rest of its slice
/// (SCHED_IDLE). Of the calling thread.
void give_way() noexcept;

}  // namespace tmpi::sched
