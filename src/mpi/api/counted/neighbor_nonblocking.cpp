// Neighbourhood collectives: nonblocking. MPI report, 8.6 and 8.7.
#include "mpi/api/coll_forms.hpp"
#include "mpi/api/counted/counted.hpp"

using namespace tmpi::mpi;

int TMPI_COUNTED(Ineighbor_allgather)(const void* sendbuf, Count sendcount, MPI_Datatype sendtype,
                                      void* recvbuf, Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                      MPI_Request* request) {
  return nonblocking(TMPI_COUNTED_NAME(Ineighbor_allgather), comm, request, check_neighbor_allgather, sendbuf,
                     sendcount, sendtype, recvbuf, recvcount, recvtype);
}
TMPI_COUNTED_PROFILED(Ineighbor_allgather);

int TMPI_COUNTED(Ineighbor_allgatherv)(const void* sendbuf, Count sendcount, MPI_Datatype sendtype,
                                       void* recvbuf, const Count recvcounts[], const Displacement displs[],
                                       MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return nonblocking(TMPI_COUNTED_NAME(Ineighbor_allgatherv), comm, request, check_neighbor_allgatherv,
                     sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype);
}
TMPI_COUNTED_PROFILED(Ineighbor_allgatherv);

int TMPI_COUNTED(Ineighbor_alltoall)(const void* sendbuf, Count sendcount, MPI_Datatype sendtype,
                                     void* recvbuf, Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                     MPI_Request* request) {
  return nonblocking(TMPI_COUNTED_NAME(Ineighbor_alltoall), comm, request, check_neighbor_alltoall, sendbuf,
                     sendcount, sendtype, recvbuf, recvcount, recvtype);
}
TMPI_COUNTED_PROFILED(Ineighbor_alltoall);

int TMPI_COUNTED(Ineighbor_alltoallv)(const void* sendbuf, const Count sendcounts[],
                                      const Displacement sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                      const Count recvcounts[], const Displacement rdispls[],
                                      MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return nonblocking(TMPI_COUNTED_NAME(Ineighbor_alltoallv), comm, request, check_neighbor_alltoallv, sendbuf,
                     sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype);
}
TMPI_COUNTED_PROFILED(Ineighbor_alltoallv);

int TMPI_COUNTED(Ineighbor_alltoallw)(const void* sendbuf, const Count sendcounts[], const MPI_Aint sdispls[],
                                      const MPI_Datatype sendtypes[], void* recvbuf, const Count recvcounts[],
                                      const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                                      MPI_Request* request) {
  return nonblocking(TMPI_COUNTED_NAME(Ineighbor_alltoallw), comm, request, check_neighbor_alltoallw, sendbuf,
                     sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes);
}
TMPI_COUNTED_PROFILED(Ineighbor_alltoallw);
