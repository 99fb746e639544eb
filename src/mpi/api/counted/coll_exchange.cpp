// Allgather and alltoall in all variants. MPI report, 6.7, 6.8, 6.12, 6.13.
#include "mpi/api/coll_forms.hpp"
#include "mpi/api/counted/counted.hpp"

using namespace tmpi::mpi;

int TMPI_COUNTED(Allgather)(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                            Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return blocking(TMPI_COUNTED_NAME(Allgather), comm, check_allgather, sendbuf, sendcount, sendtype, recvbuf,
                  recvcount, recvtype);
}
TMPI_COUNTED_PROFILED(Allgather);

int TMPI_COUNTED(Iallgather)(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                             Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return nonblocking(TMPI_COUNTED_NAME(Iallgather), comm, request, check_allgather, sendbuf, sendcount,
                     sendtype, recvbuf, recvcount, recvtype);
}
TMPI_COUNTED_PROFILED(Iallgather);

int TMPI_COUNTED(Allgather_init)(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                 Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                 MPI_Request* request) {
  return persistent(TMPI_COUNTED_NAME(Allgather_init), comm, info, request, check_allgather, sendbuf,
                    sendcount, sendtype, recvbuf, recvcount, recvtype);
}
TMPI_COUNTED_PROFILED(Allgather_init);

int TMPI_COUNTED(Allgatherv)(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                             const Count recvcounts[], const Displacement displs[], MPI_Datatype recvtype,
                             MPI_Comm comm) {
  return blocking(TMPI_COUNTED_NAME(Allgatherv), comm, check_allgatherv, sendbuf, sendcount, sendtype,
                  recvbuf, recvcounts, displs, recvtype);
}
TMPI_COUNTED_PROFILED(Allgatherv);

int TMPI_COUNTED(Iallgatherv)(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                              const Count recvcounts[], const Displacement displs[], MPI_Datatype recvtype,
                              MPI_Comm comm, MPI_Request* request) {
  return nonblocking(TMPI_COUNTED_NAME(Iallgatherv), comm, request, check_allgatherv, sendbuf, sendcount,
                     sendtype, recvbuf, recvcounts, displs, recvtype);
}
TMPI_COUNTED_PROFILED(Iallgatherv);

int TMPI_COUNTED(Allgatherv_init)(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                  const Count recvcounts[], const Displacement displs[],
                                  MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return persistent(TMPI_COUNTED_NAME(Allgatherv_init), comm, info, request, check_allgatherv, sendbuf,
                    sendcount, sendtype, recvbuf, recvcounts, displs, recvtype);
}
TMPI_COUNTED_PROFILED(Allgatherv_init);

int TMPI_COUNTED(Alltoall)(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           Count recvcount, MPI_Datatype recvtype, MPI_Comm comm) {
  return blocking(TMPI_COUNTED_NAME(Alltoall), comm, check_alltoall, sendbuf, sendcount, sendtype, recvbuf,
                  recvcount, recvtype);
}
TMPI_COUNTED_PROFILED(Alltoall);

int TMPI_COUNTED(Ialltoall)(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                            Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Request* request) {
  return nonblocking(TMPI_COUNTED_NAME(Ialltoall), comm, request, check_alltoall, sendbuf, sendcount,
                     sendtype, recvbuf, recvcount, recvtype);
}
TMPI_COUNTED_PROFILED(Ialltoall);

int TMPI_COUNTED(Alltoall_init)(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                                Count recvcount, MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                                MPI_Request* request) {
  return persistent(TMPI_COUNTED_NAME(Alltoall_init), comm, info, request, check_alltoall, sendbuf, sendcount,
                    sendtype, recvbuf, recvcount, recvtype);
}
TMPI_COUNTED_PROFILED(Alltoall_init);

int TMPI_COUNTED(Alltoallv)(const void* sendbuf, const Count sendcounts[], const Displacement sdispls[],
                            MPI_Datatype sendtype, void* recvbuf, const Count recvcounts[],
                            const Displacement rdispls[], MPI_Datatype recvtype, MPI_Comm comm) {
  return blocking(TMPI_COUNTED_NAME(Alltoallv), comm, check_alltoallv, sendbuf, sendcounts, sdispls, sendtype,
                  recvbuf, recvcounts, rdispls, recvtype);
}
TMPI_COUNTED_PROFILED(Alltoallv);

int TMPI_COUNTED(Ialltoallv)(const void* sendbuf, const Count sendcounts[], const Displacement sdispls[],
                             MPI_Datatype sendtype, void* recvbuf, const Count recvcounts[],
                             const Displacement rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                             MPI_Request* request) {
  return nonblocking(TMPI_COUNTED_NAME(Ialltoallv), comm, request, check_alltoallv, sendbuf, sendcounts,
                     sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype);
}
TMPI_COUNTED_PROFILED(Ialltoallv);

int TMPI_COUNTED(Alltoallv_init)(const void* sendbuf, const Count sendcounts[], const Displacement sdispls[],
                                 MPI_Datatype sendtype, void* recvbuf, const Count recvcounts[],
                                 const Displacement rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                                 MPI_Info info, MPI_Request* request) {
  return persistent(TMPI_COUNTED_NAME(Alltoallv_init), comm, info, request, check_alltoallv, sendbuf,
                    sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype);
}
TMPI_COUNTED_PROFILED(Alltoallv_init);

int TMPI_COUNTED(Alltoallw)(const void* sendbuf, const Count sendcounts[], const Displacement sdispls[],
                            const MPI_Datatype sendtypes[], void* recvbuf, const Count recvcounts[],
                            const Displacement rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm) {
  return blocking(TMPI_COUNTED_NAME(Alltoallw), comm, check_alltoallw, sendbuf, sendcounts, sdispls,
                  sendtypes, recvbuf, recvcounts, rdispls, recvtypes);
}
TMPI_COUNTED_PROFILED(Alltoallw);

int TMPI_COUNTED(Ialltoallw)(const void* sendbuf, const Count sendcounts[], const Displacement sdispls[],
                             const MPI_Datatype sendtypes[], void* recvbuf, const Count recvcounts[],
                             const Displacement rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                             MPI_Request* request) {
  return nonblocking(TMPI_COUNTED_NAME(Ialltoallw), comm, request, check_alltoallw, sendbuf, sendcounts,
                     sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes);
}
TMPI_COUNTED_PROFILED(Ialltoallw);

int TMPI_COUNTED(Alltoallw_init)(const void* sendbuf, const Count sendcounts[], const Displacement sdispls[],
                                 const MPI_Datatype sendtypes[], void* recvbuf, const Count recvcounts[],
                                 const Displacement rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                                 MPI_Info info, MPI_Request* request) {
  return persistent(TMPI_COUNTED_NAME(Alltoallw_init), comm, info, request, check_alltoallw, sendbuf,
                    sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes);
}
TMPI_COUNTED_PROFILED(Alltoallw_init);
