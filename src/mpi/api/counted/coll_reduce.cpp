// Reductions. MPI report, 6.9 to 6.13.
#include "mpi/api/coll_forms.hpp"
#include "mpi/api/counted/counted.hpp"

using namespace tmpi::mpi;

int TMPI_COUNTED(Reduce)(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype datatype, MPI_Op op,
                         int root, MPI_Comm comm) {
  return blocking(TMPI_COUNTED_NAME(Reduce), comm, check_reduce, sendbuf, recvbuf, count, datatype, op, root);
}
TMPI_COUNTED_PROFILED(Reduce);

int TMPI_COUNTED(Ireduce)(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype datatype, MPI_Op op,
                          int root, MPI_Comm comm, MPI_Request* request) {
  return nonblocking(TMPI_COUNTED_NAME(Ireduce), comm, request, check_reduce, sendbuf, recvbuf, count,
                     datatype, op, root);
}
TMPI_COUNTED_PROFILED(Ireduce);

int TMPI_COUNTED(Reduce_init)(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype datatype,
                              MPI_Op op, int root, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return persistent(TMPI_COUNTED_NAME(Reduce_init), comm, info, request, check_reduce, sendbuf, recvbuf,
                    count, datatype, op, root);
}
TMPI_COUNTED_PROFILED(Reduce_init);

int TMPI_COUNTED(Allreduce)(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype datatype, MPI_Op op,
                            MPI_Comm comm) {
  return blocking(TMPI_COUNTED_NAME(Allreduce), comm, check_allreduce, sendbuf, recvbuf, count, datatype, op);
}
TMPI_COUNTED_PROFILED(Allreduce);

int TMPI_COUNTED(Iallreduce)(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype datatype,
                             MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  return nonblocking(TMPI_COUNTED_NAME(Iallreduce), comm, request, check_allreduce, sendbuf, recvbuf, count,
                     datatype, op);
}
TMPI_COUNTED_PROFILED(Iallreduce);

int TMPI_COUNTED(Allreduce_init)(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype datatype,
                                 MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return persistent(TMPI_COUNTED_NAME(Allreduce_init), comm, info, request, check_allreduce, sendbuf, recvbuf,
                    count, datatype, op);
}
TMPI_COUNTED_PROFILED(Allreduce_init);

int TMPI_COUNTED(Reduce_scatter)(const void* sendbuf, void* recvbuf, const Count recvcounts[],
                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return blocking(TMPI_COUNTED_NAME(Reduce_scatter), comm, check_reduce_scatter, sendbuf, recvbuf, recvcounts,
                  datatype, op);
}
TMPI_COUNTED_PROFILED(Reduce_scatter);

int TMPI_COUNTED(Ireduce_scatter)(const void* sendbuf, void* recvbuf, const Count recvcounts[],
                                  MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Request* request) {
  return nonblocking(TMPI_COUNTED_NAME(Ireduce_scatter), comm, request, check_reduce_scatter, sendbuf,
                     recvbuf, recvcounts, datatype, op);
}
TMPI_COUNTED_PROFILED(Ireduce_scatter);

int TMPI_COUNTED(Reduce_scatter_init)(const void* sendbuf, void* recvbuf, const Count recvcounts[],
                                      MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                      MPI_Request* request) {
  return persistent(TMPI_COUNTED_NAME(Reduce_scatter_init), comm, info, request, check_reduce_scatter,
                    sendbuf, recvbuf, recvcounts, datatype, op);
}
TMPI_COUNTED_PROFILED(Reduce_scatter_init);

int TMPI_COUNTED(Reduce_scatter_block)(const void* sendbuf, void* recvbuf, Count recvcount,
                                       MPI_Datatype datatype, MPI_Op op, MPI_Comm comm) {
  return blocking(TMPI_COUNTED_NAME(Reduce_scatter_block), comm, check_reduce_scatter_block, sendbuf, recvbuf,
                  recvcount, datatype, op);
}
TMPI_COUNTED_PROFILED(Reduce_scatter_block);

int TMPI_COUNTED(Ireduce_scatter_block)(const void* sendbuf, void* recvbuf, Count recvcount,
                                        MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                        MPI_Request* request) {
  return nonblocking(TMPI_COUNTED_NAME(Ireduce_scatter_block), comm, request, check_reduce_scatter_block,
                     sendbuf, recvbuf, recvcount, datatype, op);
}
TMPI_COUNTED_PROFILED(Ireduce_scatter_block);

int TMPI_COUNTED(Reduce_scatter_block_init)(const void* sendbuf, void* recvbuf, Count recvcount,
                                            MPI_Datatype datatype, MPI_Op op, MPI_Comm comm, MPI_Info info,
                                            MPI_Request* request) {
  return persistent(TMPI_COUNTED_NAME(Reduce_scatter_block_init), comm, info, request,
                    check_reduce_scatter_block, sendbuf, recvbuf, recvcount, datatype, op);
}
TMPI_COUNTED_PROFILED(Reduce_scatter_block_init);

int TMPI_COUNTED(Scan)(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype datatype, MPI_Op op,
                       MPI_Comm comm) {
  return blocking(TMPI_COUNTED_NAME(Scan), comm, check_scan, sendbuf, recvbuf, count, datatype, op);
}
TMPI_COUNTED_PROFILED(Scan);

int TMPI_COUNTED(Iscan)(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype datatype, MPI_Op op,
                        MPI_Comm comm, MPI_Request* request) {
  return nonblocking(TMPI_COUNTED_NAME(Iscan), comm, request, check_scan, sendbuf, recvbuf, count, datatype,
                     op);
}
TMPI_COUNTED_PROFILED(Iscan);

int TMPI_COUNTED(Scan_init)(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype datatype, MPI_Op op,
                            MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return persistent(TMPI_COUNTED_NAME(Scan_init), comm, info, request, check_scan, sendbuf, recvbuf, count,
                    datatype, op);
}
TMPI_COUNTED_PROFILED(Scan_init);

int TMPI_COUNTED(Exscan)(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype datatype, MPI_Op op,
                         MPI_Comm comm) {
  return blocking(TMPI_COUNTED_NAME(Exscan), comm, check_exscan, sendbuf, recvbuf, count, datatype, op);
}
TMPI_COUNTED_PROFILED(Exscan);

int TMPI_COUNTED(Iexscan)(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype datatype, MPI_Op op,
                          MPI_Comm comm, MPI_Request* request) {
  return nonblocking(TMPI_COUNTED_NAME(Iexscan), comm, request, check_exscan, sendbuf, recvbuf, count,
                     datatype, op);
}
TMPI_COUNTED_PROFILED(Iexscan);

int TMPI_COUNTED(Exscan_init)(const void* sendbuf, void* recvbuf, Count count, MPI_Datatype datatype,
                              MPI_Op op, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  return persistent(TMPI_COUNTED_NAME(Exscan_init), comm, info, request, check_exscan, sendbuf, recvbuf,
                    count, datatype, op);
}
TMPI_COUNTED_PROFILED(Exscan_init);
