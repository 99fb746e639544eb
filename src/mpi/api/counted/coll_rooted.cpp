// The collectives with a root that move data. MPI report, 6.4 to 6.6, 6.12, 6.13.
#include "mpi/api/coll_forms.hpp"
#include "mpi/api/counted/counted.hpp"

using namespace tmpi::mpi;

int TMPI_COUNTED(Bcast)(void* buffer, Count count, MPI_Datatype datatype, int root, MPI_Comm comm) {
  return blocking(TMPI_COUNTED_NAME(Bcast), comm, check_bcast, buffer, count, datatype, root);
}
TMPI_COUNTED_PROFILED(Bcast);

int TMPI_COUNTED(Ibcast)(void* buffer, Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                         MPI_Request* request) {
  return nonblocking(TMPI_COUNTED_NAME(Ibcast), comm, request, check_bcast, buffer, count, datatype, root);
}
TMPI_COUNTED_PROFILED(Ibcast);

int TMPI_COUNTED(Bcast_init)(void* buffer, Count count, MPI_Datatype datatype, int root, MPI_Comm comm,
                             MPI_Info info, MPI_Request* request) {
  return persistent(TMPI_COUNTED_NAME(Bcast_init), comm, info, request, check_bcast, buffer, count, datatype,
                    root);
}
TMPI_COUNTED_PROFILED(Bcast_init);

int TMPI_COUNTED(Gather)(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                         Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return blocking(TMPI_COUNTED_NAME(Gather), comm, check_gather, sendbuf, sendcount, sendtype, recvbuf,
                  recvcount, recvtype, root);
}
TMPI_COUNTED_PROFILED(Gather);

int TMPI_COUNTED(Igather)(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                          Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                          MPI_Request* request) {
  return nonblocking(TMPI_COUNTED_NAME(Igather), comm, request, check_gather, sendbuf, sendcount, sendtype,
                     recvbuf, recvcount, recvtype, root);
}
TMPI_COUNTED_PROFILED(Igather);

int TMPI_COUNTED(Gather_init)(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                              Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                              MPI_Request* request) {
  return persistent(TMPI_COUNTED_NAME(Gather_init), comm, info, request, check_gather, sendbuf, sendcount,
                    sendtype, recvbuf, recvcount, recvtype, root);
}
TMPI_COUNTED_PROFILED(Gather_init);

int TMPI_COUNTED(Gatherv)(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                          const Count recvcounts[], const Displacement displs[], MPI_Datatype recvtype,
                          int root, MPI_Comm comm) {
  return blocking(TMPI_COUNTED_NAME(Gatherv), comm, check_gatherv, sendbuf, sendcount, sendtype, recvbuf,
                  recvcounts, displs, recvtype, root);
}
TMPI_COUNTED_PROFILED(Gatherv);

int TMPI_COUNTED(Igatherv)(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           const Count recvcounts[], const Displacement displs[], MPI_Datatype recvtype,
                           int root, MPI_Comm comm, MPI_Request* request) {
  return nonblocking(TMPI_COUNTED_NAME(Igatherv), comm, request, check_gatherv, sendbuf, sendcount, sendtype,
                     recvbuf, recvcounts, displs, recvtype, root);
}
TMPI_COUNTED_PROFILED(Igatherv);

int TMPI_COUNTED(Gatherv_init)(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                               const Count recvcounts[], const Displacement displs[], MPI_Datatype recvtype,
                               int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return persistent(TMPI_COUNTED_NAME(Gatherv_init), comm, info, request, check_gatherv, sendbuf, sendcount,
                    sendtype, recvbuf, recvcounts, displs, recvtype, root);
}
TMPI_COUNTED_PROFILED(Gatherv_init);

int TMPI_COUNTED(Scatter)(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                          Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm) {
  return blocking(TMPI_COUNTED_NAME(Scatter), comm, check_scatter, sendbuf, sendcount, sendtype, recvbuf,
                  recvcount, recvtype, root);
}
TMPI_COUNTED_PROFILED(Scatter);

int TMPI_COUNTED(Iscatter)(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                           Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                           MPI_Request* request) {
  return nonblocking(TMPI_COUNTED_NAME(Iscatter), comm, request, check_scatter, sendbuf, sendcount, sendtype,
                     recvbuf, recvcount, recvtype, root);
}
TMPI_COUNTED_PROFILED(Iscatter);

int TMPI_COUNTED(Scatter_init)(const void* sendbuf, Count sendcount, MPI_Datatype sendtype, void* recvbuf,
                               Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Info info,
                               MPI_Request* request) {
  return persistent(TMPI_COUNTED_NAME(Scatter_init), comm, info, request, check_scatter, sendbuf, sendcount,
                    sendtype, recvbuf, recvcount, recvtype, root);
}
TMPI_COUNTED_PROFILED(Scatter_init);

int TMPI_COUNTED(Scatterv)(const void* sendbuf, const Count sendcounts[], const Displacement displs[],
                           MPI_Datatype sendtype, void* recvbuf, Count recvcount, MPI_Datatype recvtype,
                           int root, MPI_Comm comm) {
  return blocking(TMPI_COUNTED_NAME(Scatterv), comm, check_scatterv, sendbuf, sendcounts, displs, sendtype,
                  recvbuf, recvcount, recvtype, root);
}
TMPI_COUNTED_PROFILED(Scatterv);

int TMPI_COUNTED(Iscatterv)(const void* sendbuf, const Count sendcounts[], const Displacement displs[],
                            MPI_Datatype sendtype, void* recvbuf, Count recvcount, MPI_Datatype recvtype,
                            int root, MPI_Comm comm, MPI_Request* request) {
  return nonblocking(TMPI_COUNTED_NAME(Iscatterv), comm, request, check_scatterv, sendbuf, sendcounts, displs,
                     sendtype, recvbuf, recvcount, recvtype, root);
}
TMPI_COUNTED_PROFILED(Iscatterv);

int TMPI_COUNTED(Scatterv_init)(const void* sendbuf, const Count sendcounts[], const Displacement displs[],
                                MPI_Datatype sendtype, void* recvbuf, Count recvcount, MPI_Datatype recvtype,
                                int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return persistent(TMPI_COUNTED_NAME(Scatterv_init), comm, info, request, check_scatterv, sendbuf,
                    sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root);
}
TMPI_COUNTED_PROFILED(Scatterv_init);
