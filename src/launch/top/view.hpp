// What tmpi-top shows: text made of two answers of a job.
#pragma once

#include <string>

#include "launch/wire/figures.hpp"

namespace tmpi::launch {

struct Size {
  int rows = 0;  ///< 0: as many as there are
  int columns = 0;
};

/// Lines, each ending with a newline: the job, its nodes with their cores, and what ranks do. Rates are
/// those between `before` and `now`.
std::string view(int job, const JobFigures& before, const JobFigures& now, Size size);

}  // namespace tmpi::launch
