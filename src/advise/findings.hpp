// Findings: what a profile says should be done first, each a sentence with its numbers, for people who have not read
// docs/reference/profiling.md. The report page (src/report) begins with them.
#pragma once

#include <string>
#include <vector>

#include "observe/profile.hpp"

namespace tmpi::advise {

struct Finding {
  std::string title;
  std::string sentence;  ///< what was measured
  std::string remedy;    ///< what to try
  double share =
      0;  ///< of the cores' time that is lost in this way, from 0 to 1: the most that can be gained
};

struct Findings {
  std::vector<Finding> all;         ///< the largest share first; at least one
  std::vector<std::string> doubts;  ///< what the figures do not show, a sentence each
};

Findings findings_of(const observe::Profile& profile);

}  // namespace tmpi::advise
