// The signals that the runtime uses for itself: the last real-time signals, each named once.
#pragma once

#include <signal.h>

namespace tmpi {

enum class OwnSignal {
  kParentDeath = 1,  ///< tmpirun, or the supervisor, has died
  kInterruptCall,    ///< a call that a thread of the pool makes for a rank is to end
  kForRank,          ///< carries a signal to the rank that it is for
  kSlot,             ///< a worker's thread is asked where it is, or to let others run
};

inline int number_of(OwnSignal signal) noexcept {
  return SIGRTMAX - static_cast<int>(signal);
}

}  // namespace tmpi
