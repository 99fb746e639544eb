// Allgather and alltoall in all variants. MPI report, 6.7 and 6.8.
#include "mpi/api/coll_checks.hpp"
#include "mpi/api/profiled.hpp"
#include "mpi/coll/coll.hpp"
#include "mpi/core/call.hpp"

using namespace tmpi::mpi;

int PMPI_Allgather(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                   MPI_Datatype recvtype, MPI_Comm comm) {
  return on_comm("MPI_Allgather", comm, [&](Comm& c) -> Err {
    Args args{.collective = Collective::kAllgather, .in_place = sendbuf == MPI_IN_PLACE};
    TMPI_TRY(check_side(args.recv, recvbuf, recvcount, recvtype, "recvbuf"));
    if (!args.in_place) TMPI_TRY(check_side(args.send, sendbuf, sendcount, sendtype, "sendbuf"));
    if (!args.in_place) TMPI_TRY(check_distinct(args.send, args.recv));
    return run(c, args);
  });
}
TMPI_PROFILED(MPI_Allgather);

int PMPI_Allgatherv(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf,
                    const int recvcounts[], const int displs[], MPI_Datatype recvtype, MPI_Comm comm) {
  return on_comm("MPI_Allgatherv", comm, [&](Comm& c) -> Err {
    Args args{.collective = Collective::kAllgather, .in_place = sendbuf == MPI_IN_PLACE};
    TMPI_TRY(check_chunks(args.recv, recvbuf, recvcounts, displs, recvtype, c.size, "recvbuf"));
    if (!args.in_place) TMPI_TRY(check_side(args.send, sendbuf, sendcount, sendtype, "sendbuf"));
    return run(c, args);
  });
}
TMPI_PROFILED(MPI_Allgatherv);

int PMPI_Alltoall(const void* sendbuf, int sendcount, MPI_Datatype sendtype, void* recvbuf, int recvcount,
                  MPI_Datatype recvtype, MPI_Comm comm) {
  return on_comm("MPI_Alltoall", comm, [&](Comm& c) -> Err {
    Args args{.collective = Collective::kAlltoall, .in_place = sendbuf == MPI_IN_PLACE};
    TMPI_TRY(check_side(args.recv, recvbuf, recvcount, recvtype, "recvbuf"));
    if (!args.in_place) TMPI_TRY(check_side(args.send, sendbuf, sendcount, sendtype, "sendbuf"));
    if (!args.in_place) TMPI_TRY(check_distinct(args.send, args.recv));
    return run(c, args);
  });
}
TMPI_PROFILED(MPI_Alltoall);

int PMPI_Alltoallv(const void* sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
                   void* recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype,
                   MPI_Comm comm) {
  return on_comm("MPI_Alltoallv", comm, [&](Comm& c) -> Err {
    Args args{.collective = Collective::kAlltoall, .in_place = sendbuf == MPI_IN_PLACE};
    TMPI_TRY(check_chunks(args.recv, recvbuf, recvcounts, rdispls, recvtype, c.size, "recvbuf"));
    if (!args.in_place)
      TMPI_TRY(check_chunks(args.send, sendbuf, sendcounts, sdispls, sendtype, c.size, "sendbuf"));
    return run(c, args);
  });
}
TMPI_PROFILED(MPI_Alltoallv);

int PMPI_Alltoallw(const void* sendbuf, const int sendcounts[], const int sdispls[],
                   const MPI_Datatype sendtypes[], void* recvbuf, const int recvcounts[], const int rdispls[],
                   const MPI_Datatype recvtypes[], MPI_Comm comm) {
  return on_comm("MPI_Alltoallw", comm, [&](Comm& c) -> Err {
    Args args{.collective = Collective::kAlltoall, .in_place = sendbuf == MPI_IN_PLACE};
    TMPI_TRY(check_typed_chunks(args.recv, recvbuf, recvcounts, rdispls, recvtypes, c.size, "recvbuf"));
    if (!args.in_place) {
      TMPI_TRY(check_typed_chunks(args.send, sendbuf, sendcounts, sdispls, sendtypes, c.size, "sendbuf"));
    }
    return run(c, args);
  });
}
TMPI_PROFILED(MPI_Alltoallw);
