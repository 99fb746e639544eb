// Reductions. MPI report, 6.9 to 6.11.
#include "mpi/api/coll_checks.hpp"
#include "mpi/api/profiled.hpp"
#include "mpi/coll/coll.hpp"
#include "mpi/core/call.hpp"

namespace tmpi::mpi {
namespace {

// Reductions in which all members send and receive vectors of one length.
int reduce_all(const char* name, Collective collective, const void* sendbuf, void* recvbuf, int count,
               MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return on_comm(name, comm, [&](Comm& c) -> Err {
    Args args{.collective = collective};
    TMPI_TRY(check_reduction(args, sendbuf, recvbuf, count, datatype, op));
    return run(c, args);
  });
}

// A member that gets no result: its recvbuf does not matter. The vector's length and type are the same
// everywhere.
Err check_send_only(Args& args, const void* sendbuf, MPI_Count count, MPI_Datatype datatype, MPI_Op op) {
  TMPI_TRY(check_side(args.send, sendbuf, count, datatype, "sendbuf"));
  TMPI_TRY(check_operator(op, *args.send.type, args.op));
  args.recv = {.data = nullptr, .count = count, .type = args.send.type};
  return kOk;
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int PMPI_Reduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root,
                MPI_Comm comm) {
  return on_comm("MPI_Reduce", comm, [&](Comm& c) -> Err {
    Args args{.collective = Collective::kReduce, .root = root};
    TMPI_TRY(check_root(c, root));
    TMPI_TRY(c.rank == root ? check_reduction(args, sendbuf, recvbuf, count, datatype, op)
                            : check_send_only(args, sendbuf, count, datatype, op));
    return run(c, args);
  });
}
TMPI_PROFILED(MPI_Reduce);

int PMPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm) {
  return reduce_all("MPI_Allreduce", Collective::kAllreduce, sendbuf, recvbuf, count, datatype, op, comm);
}
TMPI_PROFILED(MPI_Allreduce);

int PMPI_Scan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
              MPI_Comm comm) {
  return reduce_all("MPI_Scan", Collective::kScan, sendbuf, recvbuf, count, datatype, op, comm);
}
TMPI_PROFILED(MPI_Scan);

int PMPI_Exscan(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                MPI_Comm comm) {
  return on_comm("MPI_Exscan", comm, [&](Comm& c) -> Err {
    Args args{.collective = Collective::kExscan};
    const bool receives = c.rank != 0 || sendbuf == MPI_IN_PLACE;
    TMPI_TRY(receives ? check_reduction(args, sendbuf, recvbuf, count, datatype, op)
                      : check_send_only(args, sendbuf, count, datatype, op));
    return run(c, args);
  });
}
TMPI_PROFILED(MPI_Exscan);

int PMPI_Reduce_scatter_block(const void* sendbuf, void* recvbuf, int recvcount, MPI_Datatype datatype,
                              MPI_Op op, MPI_Comm comm) {
  return reduce_all("MPI_Reduce_scatter_block", Collective::kReduceScatter, sendbuf, recvbuf, recvcount,
                    datatype, op, comm);
}
TMPI_PROFILED(MPI_Reduce_scatter_block);

int PMPI_Reduce_scatter(const void* sendbuf, void* recvbuf, const int recvcounts[], MPI_Datatype datatype,
                        MPI_Op op, MPI_Comm comm) {
  return on_comm("MPI_Reduce_scatter", comm, [&](Comm& c) -> Err {
    TMPI_TRY(check_pointer(recvcounts, "recvcounts"));
    for (int i = 0; i < c.size; ++i) TMPI_TRY(check_count(recvcounts[i]));
    Args args{.collective = Collective::kReduceScatter};
    TMPI_TRY(check_reduction(args, sendbuf, recvbuf, recvcounts[c.rank], datatype, op));
    args.recv.counts = recvcounts;
    return run(c, args);
  });
}
TMPI_PROFILED(MPI_Reduce_scatter);
