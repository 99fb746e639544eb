// Collectives in which ranks wait for each other, for the clocks of a run that is explored. Those that are left out make some
// messages seem possible that are not.
#include <array>
#include <tuple>

#include "mpi/rank/rank.hpp"
#include "mpi/rank/threads.hpp"
#include "replay/explored_log.hpp"
#include "replay/logs.hpp"

namespace tmpi::replay {
namespace {

void note(MPI_Comm comm, Waits waits, int root) {
  const OpenLog log = log_of_caller();
  mpi::Rank* const rank = mpi::calling_rank();
  if (!log || log->explored_log() == nullptr || comm == MPI_COMM_NULL) return;
  const mpi::Comm* const members = mpi::comm_from(*rank, comm);
  if (members == nullptr || members->inter()) return;
  log->explored_log()->meet(members->context, waits, root, members->rank, members->size);
}

/// The communicator is the last argument, and the root, if there is one, the one before.
template <auto kFunction, Waits kWaits>
struct Noting;

template <class... Arguments, int (*kFunction)(Arguments...), Waits kWaits>
struct Noting<kFunction, kWaits> {
  static int call(Arguments... arguments) {
    constexpr std::size_t kLast = sizeof...(Arguments) - 1;
    const auto all = std::tie(arguments...);
    int root = 0;
    if constexpr (kWaits != Waits::kAll) root = std::get<kLast - 1>(all);
    note(std::get<kLast>(all), kWaits, root);
    return kFunction(arguments...);
  }
};

template <auto kFunction>
constexpr auto kAll = &Noting<kFunction, Waits::kAll>::call;
template <auto kFunction>
constexpr auto kFromRoot = &Noting<kFunction, Waits::kFromRoot>::call;
template <auto kFunction>
constexpr auto kToRoot = &Noting<kFunction, Waits::kToRoot>::call;

}  // namespace

const std::vector<Version>& collectives() {
  static const std::vector<Version> all{
      version("MPI_Barrier", kAll<&PMPI_Barrier>),
      version("MPI_Allreduce", kAll<&PMPI_Allreduce>),
      version("MPI_Allgather", kAll<&PMPI_Allgather>),
      version("MPI_Allgatherv", kAll<&PMPI_Allgatherv>),
      version("MPI_Alltoall", kAll<&PMPI_Alltoall>),
      version("MPI_Alltoallv", kAll<&PMPI_Alltoallv>),
      version("MPI_Reduce_scatter", kAll<&PMPI_Reduce_scatter>),
      version("MPI_Reduce_scatter_block", kAll<&PMPI_Reduce_scatter_block>),
      version("MPI_Bcast", kFromRoot<&PMPI_Bcast>),
      version("MPI_Scatter", kFromRoot<&PMPI_Scatter>),
      version("MPI_Scatterv", kFromRoot<&PMPI_Scatterv>),
      version("MPI_Reduce", kToRoot<&PMPI_Reduce>),
      version("MPI_Gather", kToRoot<&PMPI_Gather>),
      version("MPI_Gatherv", kToRoot<&PMPI_Gatherv>),
  };
  return all;
}

}  // namespace tmpi::replay
