// Affinity: the processors that this process may use, without the topology library, for programs that must
// start fast and only want to know how many cores there are and whether two processes have the same.
#pragma once

#include <string>

namespace tmpi::launch {

struct Affinity {
  int cores = 1;           ///< with at least one processor that may be used
  int processors = 1;      ///< (hardware threads) that may be used
  int all_processors = 1;  ///< of the machine
  std::string mask = "0";  ///< hexadecimal; equal for processes that share their processors
};

Affinity own_affinity();

/// Only the mask, which costs one system call.
std::string own_affinity_mask();

}  // namespace tmpi::launch
