// Resource limits as a rank reads them: of its stack what it really has, of everything else the node process's.
#include <sys/resource.h>

#include "privatize/loader.hpp"
#include "privatize/rank_state.hpp"
#include "privatize/runtime_functions.hpp"

namespace tmpi::privatize {

extern "C" int tmpi_getrlimit(int resource, rlimit* limit) {
  if (::getrlimit(static_cast<__rlimit_resource>(resource), limit) != 0) return -1;
  const RankState* const state = in_forked_child() ? nullptr : rank_state(running_rank());
  if (resource != RLIMIT_STACK || state == nullptr || state->stack_bytes == 0) return 0;
  limit->rlim_cur = state->stack_bytes;
  if (limit->rlim_max < limit->rlim_cur) limit->rlim_max = limit->rlim_cur;
  return 0;
}

}  // namespace tmpi::privatize
