// Advice: what a profile says about progress: the model's input, where its hypotheses fail, and what it predicts,
// in words and as a drawing.
#pragma once

#include <string>
#include <vector>

#include "advise/model.hpp"
#include "advise/virtualization.hpp"
#include "observe/profile.hpp"

namespace tmpi::advise {

struct Reading {
  Measured run;
  double between = 0;        ///< computed between initiations and their waits, of a core
  double working_waits = 0;  ///< part of wait.time in which the core ran inside MPI
  double imbalance = 1;      ///< computing of the busiest core over the mean
  double library = 0;        ///< time of a core that is in none of the classes
  OneRank one_rank;          ///< of the core that computes most; meaningful if `vratio` is 1
  double wire = 0;        ///< what the large messages of a node take of the wire alone, one way; 0: not known
  bool can_read = false;  ///< --rndv read is possible
  double vratio = 1;      ///< ranks per core
  double largest_message = 0;       ///< bytes: the largest mean size of the sends of a call site
  std::vector<std::string> doubts;  ///< hypotheses that this run does not fulfil, a sentence each
};

/// Failure sentences: a profile of nothing.
Result<Reading> read(const observe::Profile& profile);

/// What is left of the waits when only what was computed before them can hide something.
double exposed_waits(const Reading& reading) noexcept;
/// Time that the progress thread takes from a core.
double taken_by_thread(const Reading& reading) noexcept;

/// What to run it with, in words of the command line, and what that takes; as it ran if nothing is better.
struct Choice {
  int vratio = 1;
  Way way = Way::kAtSchedulingPoints;
  double time = 0;
};
Choice best_choice(const Reading& reading) noexcept;
/// "--vratio 3 --progress thread".
std::string options_of(const Reading& reading, const Choice& choice);

/// A hypothesis of the table of ranks per core that this run does not fulfil.
struct Doubt {
  char mark = 'a';  ///< of the predictions that rest on it
  std::string sentence;
  bool (*concerns)(int vratio, Way way) noexcept = nullptr;
};
std::vector<Doubt> doubts_of_vratios(const Reading& reading);

std::string advice_text(const observe::Profile& profile, const Reading& reading);
/// Predicted speedup over alpha for several numbers of cores (Figure 5 of the paper).
std::string alpha_sweep_svg(const Reading& reading, const std::string& title);

}  // namespace tmpi::advise
