// Moments: checkpoints of programs that ask for none. Ranks that can be saved bind some collectives to functions which look
// first whether a checkpoint is due (moments.S): where all ranks of the job do something together, all of them come by in the same
// order. They count; at some of these moments, so that there is one in a second or so, rank 0 says whether it is now, and
// when it is asked the next time. docs/design/checkpoint.md.
#pragma once

#include <chrono>
#include <string>

namespace tmpi::mpi {

struct Moments {
  std::chrono::milliseconds every{0};  ///< between two checkpoints; 0: only when somebody asks
  std::string directory;               ///< empty: the memory of the hosts
  /// Why one was not possible; by rank 0. Any number of times.
  void (*warn)(const std::string& why) = nullptr;
};

/// Once, before any rank runs.
void save_at_moments(Moments moments);

/// The next question is answered with yes. Any thread of rank 0's node process.
void save_soon() noexcept;

/// For privatize::substitute_functions().
const void* moment_function(const char* name);

/// A checkpoint was due, and all ranks have never come together.
bool no_moment_came() noexcept;

}  // namespace tmpi::mpi
