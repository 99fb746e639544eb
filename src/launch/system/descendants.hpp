// Descendants: what tmpirun has started, directly or not. Orphans of node processes become tmpirun's children
// and so can be found when the job is over.
#pragma once

#include <sys/types.h>

#include <vector>

namespace tmpi::launch {

class Descendants {
 public:
  /// From now on orphans come to this process. Its present children (from before its exec) are none of ours.
  Descendants();

  /// Kills every other child and waits for it, until there is none but those that are stuck in their exit, whose children
  /// are killed as well. Node processes must have been collected before.
  void end_all() const;

 private:
  std::vector<pid_t> not_ours_;
};

}  // namespace tmpi::launch
