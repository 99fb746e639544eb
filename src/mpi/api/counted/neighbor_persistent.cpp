// Neighbourhood collectives: persistent. MPI report, 8.6 and 8.7.
#include "mpi/api/coll_forms.hpp"
#include "mpi/api/counted/counted.hpp"

using namespace tmpi::mpi;

int TMPI_COUNTED(Neighbor_allgather_init)(const void* sendbuf, Count sendcount, MPI_Datatype sendtype,
                                          void* recvbuf, Count recvcount, MPI_Datatype recvtype,
                                          MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return persistent(TMPI_COUNTED_NAME(Neighbor_allgather_init), comm, info, request, check_neighbor_allgather,
                    sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype);
}
TMPI_COUNTED_PROFILED(Neighbor_allgather_init);

int TMPI_COUNTED(Neighbor_allgatherv_init)(const void* sendbuf, Count sendcount, MPI_Datatype sendtype,
                                           void* recvbuf, const Count recvcounts[],
                                           const Displacement displs[], MPI_Datatype recvtype, MPI_Comm comm,
                                           MPI_Info info, MPI_Request* request) {
  return persistent(TMPI_COUNTED_NAME(Neighbor_allgatherv_init), comm, info, request,
                    check_neighbor_allgatherv, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                    recvtype);
}
TMPI_COUNTED_PROFILED(Neighbor_allgatherv_init);

int TMPI_COUNTED(Neighbor_alltoall_init)(const void* sendbuf, Count sendcount, MPI_Datatype sendtype,
                                         void* recvbuf, Count recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                                         MPI_Info info, MPI_Request* request) {
  return persistent(TMPI_COUNTED_NAME(Neighbor_alltoall_init), comm, info, request, check_neighbor_alltoall,
                    sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype);
}
TMPI_COUNTED_PROFILED(Neighbor_alltoall_init);

int TMPI_COUNTED(Neighbor_alltoallv_init)(const void* sendbuf, const Count sendcounts[],
                                          const Displacement sdispls[], MPI_Datatype sendtype, void* recvbuf,
                                          const Count recvcounts[], const Displacement rdispls[],
                                          MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                          MPI_Request* request) {
  return persistent(TMPI_COUNTED_NAME(Neighbor_alltoallv_init), comm, info, request, check_neighbor_alltoallv,
                    sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype);
}
TMPI_COUNTED_PROFILED(Neighbor_alltoallv_init);

int TMPI_COUNTED(Neighbor_alltoallw_init)(const void* sendbuf, const Count sendcounts[],
                                          const MPI_Aint sdispls[], const MPI_Datatype sendtypes[],
                                          void* recvbuf, const Count recvcounts[], const MPI_Aint rdispls[],
                                          const MPI_Datatype recvtypes[], MPI_Comm comm, MPI_Info info,
                                          MPI_Request* request) {
  return persistent(TMPI_COUNTED_NAME(Neighbor_alltoallw_init), comm, info, request, check_neighbor_alltoallw,
                    sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes);
}
TMPI_COUNTED_PROFILED(Neighbor_alltoallw_init);
