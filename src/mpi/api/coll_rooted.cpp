// Barrier, and the collectives with a root that move data. MPI report, 6.3 to 6.6.
#include "mpi/api/coll_checks.hpp"
#include "mpi/api/profiled.hpp"
#include "mpi/coll/coll.hpp"
#include "mpi/core/call.hpp"

using namespace tmpi::mpi;

int PMPI_Barrier(MPI_Comm comm) {
  return on_comm("MPI_Barrier", comm, [](Comm& c) { return barrier(c); });
}
TMPI_PROFILED(MPI_Barrier);

int PMPI_Bcast(void* buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  return on_comm("MPI_Bcast", comm, [&](Comm& c) -> Err {
    Args args{.collective = Collective::kBcast, .root = root};
    TMPI_TRY(check_root(c, root));
    TMPI_TRY(check_side(args.recv, buffer, count, datatype, "buffer"));
    return run(c, args);
  });
}
TMPI_PROFILED(MPI_Bcast);

int PMPI_Gather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return on_comm("MPI_Gather", comm, [&](Comm& c) -> Err {
    Args args{.collective = Collective::kGather, .root = root};
    TMPI_TRY(check_root(c, root));
    const bool at_root = c.rank == root;
    args.in_place = at_root && sendbuf == MPI_IN_PLACE;
    if (!args.in_place) TMPI_TRY(check_side(args.send, sendbuf, sendcount, sendtype, "sendbuf"));
    if (at_root) TMPI_TRY(check_side(args.recv, recvbuf, recvcount, recvtype, "recvbuf"));
    if (at_root && !args.in_place) TMPI_TRY(check_distinct(args.send, args.recv));
    return run(c, args);
  });
}
TMPI_PROFILED(MPI_Gather);

int PMPI_Gatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                 const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return on_comm("MPI_Gatherv", comm, [&](Comm& c) -> Err {
    Args args{.collective = Collective::kGather, .root = root};
    TMPI_TRY(check_root(c, root));
    const bool at_root = c.rank == root;
    args.in_place = at_root && sendbuf == MPI_IN_PLACE;
    if (!args.in_place) TMPI_TRY(check_side(args.send, sendbuf, sendcount, sendtype, "sendbuf"));
    if (at_root) TMPI_TRY(check_chunks(args.recv, recvbuf, recvcounts, displs, recvtype, c.size, "recvbuf"));
    return run(c, args);
  });
}
TMPI_PROFILED(MPI_Gatherv);

int PMPI_Scatter(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                 MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return on_comm("MPI_Scatter", comm, [&](Comm& c) -> Err {
    Args args{.collective = Collective::kScatter, .root = root};
    TMPI_TRY(check_root(c, root));
    const bool at_root = c.rank == root;
    args.in_place = at_root && recvbuf == MPI_IN_PLACE;
    if (!args.in_place) TMPI_TRY(check_side(args.recv, recvbuf, recvcount, recvtype, "recvbuf"));
    if (at_root) TMPI_TRY(check_side(args.send, sendbuf, sendcount, sendtype, "sendbuf"));
    if (at_root && !args.in_place) TMPI_TRY(check_distinct(args.send, args.recv));
    return run(c, args);
  });
}
TMPI_PROFILED(MPI_Scatter);

int PMPI_Scatterv(const void* sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
                  void* recvbuf, int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return on_comm("MPI_Scatterv", comm, [&](Comm& c) -> Err {
    Args args{.collective = Collective::kScatter, .root = root};
    TMPI_TRY(check_root(c, root));
    const bool at_root = c.rank == root;
    args.in_place = at_root && recvbuf == MPI_IN_PLACE;
    if (!args.in_place) TMPI_TRY(check_side(args.recv, recvbuf, recvcount, recvtype, "recvbuf"));
    if (at_root) TMPI_TRY(check_chunks(args.send, sendbuf, sendcounts, displs, sendtype, c.size, "sendbuf"));
    return run(c, args);
  });
}
TMPI_PROFILED(MPI_Scatterv);
