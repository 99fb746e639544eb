// Layout: which worker runs which rank of one node process. Blocks of neighbouring ranks share a worker,
// since neighbours talk most. Arithmetic only.
#pragma once

#include <string>
#include <vector>

namespace tmpi::launch {

struct Layout {
  int ranks = 1;  ///< local ranks
  int workers = 1;
  int vratio = 1;            ///< V: most ranks on one worker
  bool full_blocks = false;  ///< V was asked for: every worker but the last has exactly V
  std::vector<int> chosen;   ///< --rankfile: by rank, its worker; empty: blocks

  /// Worker of local rank `rank`.
  int worker_of(int rank) const noexcept;
};

/// The layout of `ranks` ranks on `cores` cores. `vratio` and `workers` are the user's wishes, 0: none.
/// Without a wish there are as many workers as cores (never more than ranks) and blocks differ by at most
/// one; with V, ceil(ranks / V) workers.
Layout plan_layout(int ranks, int cores, int vratio, int workers);

/// The same where the user has chosen the cores of the ranks (--rankfile): a worker for each, in the order of their
/// numbers, as workers are placed on what the process may use.
Layout plan_layout_on(const std::vector<int>& cores);

/// The warning line when workers, of `each` cores, have to share `cores`; empty if they need not.
std::string oversubscription_warning(const Layout& layout, int cores, int each = 1);

}  // namespace tmpi::launch
