#include "mpi/rank/rank.hpp"

#include <unistd.h>

#include <utility>

#include "mpi/base/attributes.hpp"
#include "mpi/base/error.hpp"
#include "mpi/base/handles.hpp"
#include "mpi/base/info.hpp"
#include "mpi/base/user_errors.hpp"
#include "mpi/rank/callbacks.hpp"
#include "mpi/rank/endings.hpp"
#include "mpi/rank/forked.hpp"

namespace tmpi::mpi {
namespace {

Callbacks the_callbacks{};

// Errors of a rank's own flow of control are explained there; those of its threads, with the thread.
std::string* explanation_of_flow() noexcept {
  sched::Task* task = sched::current();
  return task != nullptr && !task->is_thread ? &static_cast<Rank*>(task->owner)->explanation : nullptr;
}

// Without MPI_Init (sessions only), and after MPI_Finalize, there are none.
Comm* predefined(MPI_Comm handle) noexcept {
  Rank& rank = current_rank();
  Comm* comm = handle == MPI_COMM_WORLD ? &rank.world : handle == MPI_COMM_SELF ? &rank.self : nullptr;
  return comm != nullptr && comm->shared != nullptr ? comm : nullptr;
}

}  // namespace

Rank::Rank() = default;
Rank::~Rank() = default;

Comm* comm_from(MPI_Comm handle) noexcept {
  if (is_predefined(handle)) return predefined(handle);
  Comm* comm = reinterpret_cast<Comm*>(handle);
  return comm->magic == Comm::kMagic ? comm : nullptr;
}

Job& Job::create(Placement placement) {
  static Job& created =
      *new Job;  // never destroyed: ranks may still be in the library when the process exits
  const std::vector<int> mine = placement.ranks_of(placement.node());
  created.local_ = std::vector<Rank>(mine.size());
  created.by_world_rank_.assign(static_cast<std::size_t>(placement.size()), nullptr);
  for (std::size_t i = 0; i < mine.size(); ++i) {
    created.local_[i].world_rank = mine[i];
    created.by_world_rank_[static_cast<std::size_t>(mine[i])] = &created.local_[i];
  }
  created.placement_ = std::move(placement);
  char name[256] = "localhost";
  (void)gethostname(name, sizeof name - 1);
  created.host_ = name;
  detail::g_job = &created;
  detail::g_placement = &created.placement_;
  detail::g_explanation = explanation_of_flow;
  register_endings();
  watch_for_forks();
  return created;
}

Job* detail::g_job = nullptr;

void register_callbacks(const Callbacks& callbacks) {
  the_callbacks = callbacks;
}
const Callbacks& callbacks() noexcept {
  return the_callbacks;
}

}  // namespace tmpi::mpi
