// MPI_Pready, MPI_Pready_range, MPI_Pready_list, MPI_Parrived. MPI report, 4.2.
#include "mpi/p2p/partitioned.hpp"
#include "mpi/api/profiled.hpp"
#include "mpi/base/check.hpp"
#include "mpi/p2p/lifecycle.hpp"
#include "mpi/p2p/turn.hpp"
#include "mpi/rank/call.hpp"

using namespace tmpi::mpi;

namespace {

int ready(const char* name, MPI_Request handle, int low, int high) {
  return on_rank(name, [&](Rank&) -> Err {
    Request* request;
    TMPI_TRY(request_from(handle, request));
    return partitions_ready(request, low, high);
  });
}

}  // namespace

int PMPI_Pready(int partition, MPI_Request request) {
  return ready("MPI_Pready", request, partition, partition);
}
TMPI_PROFILED(MPI_Pready);

int PMPI_Pready_range(int partition_low, int partition_high, MPI_Request request) {
  return ready("MPI_Pready_range", request, partition_low, partition_high);
}
TMPI_PROFILED(MPI_Pready_range);

int PMPI_Pready_list(int length, const int array_of_partitions[], MPI_Request request) {
  return on_rank("MPI_Pready_list", [&](Rank&) -> Err {
    TMPI_TRY(check_count(length));
    if (length > 0) TMPI_TRY(check_pointer(array_of_partitions, "array_of_partitions"));
    Request* r;
    TMPI_TRY(request_from(request, r));
    for (int i = 0; i < length; ++i)
      TMPI_TRY(partitions_ready(r, array_of_partitions[i], array_of_partitions[i]));
    return kOk;
  });
}
TMPI_PROFILED(MPI_Pready_list);

// One that finds nothing lets the others run, so that a loop around it comes to an end.
int PMPI_Parrived(MPI_Request request, int partition, int* flag) {
  return on_rank("MPI_Parrived", [&](Rank& rank) -> Err {
    TMPI_TRY(check_pointer(flag, "flag"));
    Request* r;
    TMPI_TRY(request_from(request, r));
    bool arrived = false;
    TMPI_TRY(partition_arrived(r, partition, arrived));
    if (arrived) {
      found_at_once(rank);
    } else {
      tmpi::sched::yield_polling();
      TMPI_TRY(partition_arrived(r, partition, arrived));
    }
    *flag = arrived;
    return kOk;
  });
}
TMPI_PROFILED(MPI_Parrived);
