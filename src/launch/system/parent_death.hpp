// The signal by which the kernel tells a node process that tmpirun has died, even by SIGKILL. Its handler
// kills the node process's whole group, so that processes started by ranks die too. A real-time signal,
// because programs use the ordinary ones.
#pragma once

#include "base/own_signals.hpp"

namespace tmpi::launch {

inline int parent_death_signal() {
  return number_of(OwnSignal::kParentDeath);
}

}  // namespace tmpi::launch
