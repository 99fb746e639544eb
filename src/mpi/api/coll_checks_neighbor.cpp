// Argument checks of the neighbourhood collectives. MPI report, 8.6.
#include "mpi/api/coll_checks.hpp"
#include "mpi/comm/topology.hpp"

namespace tmpi::mpi {
namespace {

// How many neighbours data comes from and goes to.
struct Degrees {
  int in = 0;
  int out = 0;
};

Err check_neighborhood(Comm& c, Args& args, Collective collective, Degrees& degrees) {
  args.collective = collective;
  const Neighbours* around = nullptr;
  TMPI_TRY(neighbours(c, around));
  degrees = {static_cast<int>(around->sources.size()), static_cast<int>(around->destinations.size())};
  return kOk;
}

// A buffer for `chunks` chunks may be NULL if there is none.
Err check_regular(Side& side, const void* buffer, MPI_Count count, MPI_Datatype datatype, int chunks,
                  const char* argument) {
  if (chunks > 0) return check_side(side, buffer, count, datatype, chunks, argument);
  TMPI_TRY(check_not_in_place(buffer, argument));
  TMPI_TRY(check_count(count));
  Datatype* type = nullptr;
  TMPI_TRY(check_type(datatype, type));
  side.type = type;
  return kOk;
}

}  // namespace

Err check_neighbor_allgather(Comm& c, Args& args, const void* sendbuf, MPI_Count sendcount,
                             MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                             MPI_Datatype recvtype) {
  Degrees degrees;
  TMPI_TRY(check_neighborhood(c, args, Collective::kNeighborAllgather, degrees));
  TMPI_TRY(check_regular(args.send, sendbuf, sendcount, sendtype, degrees.out, "sendbuf"));
  return check_regular(args.recv, recvbuf, recvcount, recvtype, degrees.in, "recvbuf");
}

Err check_neighbor_allgatherv(Comm& c, Args& args, const void* sendbuf, MPI_Count sendcount,
                              MPI_Datatype sendtype, void* recvbuf, Numbers recvcounts, Numbers displs,
                              MPI_Datatype recvtype) {
  Degrees degrees;
  TMPI_TRY(check_neighborhood(c, args, Collective::kNeighborAllgather, degrees));
  args.ragged = true;
  TMPI_TRY(check_regular(args.send, sendbuf, sendcount, sendtype, degrees.out, "sendbuf"));
  return check_chunks(args.recv, recvbuf, recvcounts, displs, recvtype, degrees.in, "recvbuf");
}

Err check_neighbor_alltoall(Comm& c, Args& args, const void* sendbuf, MPI_Count sendcount,
                            MPI_Datatype sendtype, void* recvbuf, MPI_Count recvcount,
                            MPI_Datatype recvtype) {
  TMPI_TRY(check_neighbor_allgather(c, args, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype));
  args.collective = Collective::kNeighborAlltoall;
  return kOk;
}

Err check_neighbor_alltoallv(Comm& c, Args& args, const void* sendbuf, Numbers sendcounts, Numbers sdispls,
                             MPI_Datatype sendtype, void* recvbuf, Numbers recvcounts, Numbers rdispls,
                             MPI_Datatype recvtype) {
  Degrees degrees;
  TMPI_TRY(check_neighborhood(c, args, Collective::kNeighborAlltoall, degrees));
  args.ragged = true;
  TMPI_TRY(check_chunks(args.send, sendbuf, sendcounts, sdispls, sendtype, degrees.out, "sendbuf"));
  return check_chunks(args.recv, recvbuf, recvcounts, rdispls, recvtype, degrees.in, "recvbuf");
}

Err check_neighbor_alltoallw(Comm& c, Args& args, const void* sendbuf, Numbers sendcounts, Numbers sdispls,
                             const MPI_Datatype sendtypes[], void* recvbuf, Numbers recvcounts,
                             Numbers rdispls, const MPI_Datatype recvtypes[]) {
  Degrees degrees;
  TMPI_TRY(check_neighborhood(c, args, Collective::kNeighborAlltoall, degrees));
  args.ragged = true;
  TMPI_TRY(check_typed_chunks(args.send, sendbuf, sendcounts, sdispls, sendtypes, degrees.out, "sendbuf"));
  return check_typed_chunks(args.recv, recvbuf, recvcounts, rdispls, recvtypes, degrees.in, "recvbuf");
}

}  // namespace tmpi::mpi
