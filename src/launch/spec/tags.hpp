// What stands in front of each line of the ranks' output.
#pragma once

#include <cstdint>

namespace tmpi::launch {

enum class Tags : std::uint8_t {
  kNone,
  kSource,  ///< "[1,3]<stderr>:", as Open MPI does
  kRank,    ///< "[3] ", as MPICH does
};

}  // namespace tmpi::launch
