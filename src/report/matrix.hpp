// Matrix: who has sent to whom, as few enough squares that a page can hold them.
#pragma once

#include <cstdint>
#include <vector>

#include "observe/profile.hpp"

namespace tmpi::report {

/// Square i: what items [block * from[i], block * (from[i] + 1)) have sent to those of to[i]. Only squares with messages.
struct Matrix {
  int items = 0;  ///< ranks, or node processes
  int block = 1;  ///< of them in the side of a square
  std::vector<int> from, to;
  observe::ProfiledMessages sent;
};

/// Ranks that are many come in blocks, so that there are no more than some ten thousand squares.
Matrix matrix_of_ranks(const observe::Profile& profile);
Matrix matrix_of_nodes(const observe::Profile& profile);

}  // namespace tmpi::report
