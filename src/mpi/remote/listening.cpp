#include "mpi/remote/listening.hpp"

#include "mpi/remote/instance.hpp"
#include "sched/progress.hpp"

namespace tmpi::mpi::remote {

// Without anybody beside the ranks it would only make them look more often at their scheduling points.
Listening::Listening() noexcept {
  if (!engine()->beside()) return;
  detail::g_expected.fetch_add(1, std::memory_order_seq_cst);
  sched::call_progress();
}

Listening::~Listening() {
  if (engine()->beside()) detail::g_expected.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace tmpi::mpi::remote
