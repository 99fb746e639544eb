#include "mpi/rank/endings.hpp"

#include <fmt/format.h>

#include "mpi/base/no_memory.hpp"
#include "mpi/rank/callbacks.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/rank/threads.hpp"

namespace tmpi::mpi {
namespace {

void end_without_memory(const char* what) noexcept {
  if (callbacks().out_of_memory != nullptr) callbacks().out_of_memory(what);
}

void end_after_exception(const char* callback, const char* what) noexcept {
  Rank* rank = calling_rank();
  if (rank == nullptr) return;
  callbacks().abort_job(
      *rank, MPI_ERR_OTHER,
      fmt::format(
          "rank {} on {}: {}: the program's {} has thrown an exception ({}), which cannot pass through "
          "MPI: catch it there",
          rank->world_rank, job()->host(), rank->call, callback, what));
}

}  // namespace

void register_endings() noexcept {
  detail::g_endings = {end_without_memory, end_after_exception};
}

}  // namespace tmpi::mpi
