/* A profiling library: counts calls by wrapping MPI_ functions around their PMPI_ names, as MPI report,
 * chapter 15, lays down. Linked with the program statically or as a shared library. */
#include <mpi.h>
#include <string.h>

static struct { int init, finalize, send, recv, isend, waitall, allreduce; } calls;

int profiled_calls(const char* name) {
  if (strcmp(name, "init") == 0) return calls.init;
  if (strcmp(name, "finalize") == 0) return calls.finalize;
  if (strcmp(name, "send") == 0) return calls.send;
  if (strcmp(name, "recv") == 0) return calls.recv;
  if (strcmp(name, "isend") == 0) return calls.isend;
  if (strcmp(name, "waitall") == 0) return calls.waitall;
  if (strcmp(name, "allreduce") == 0) return calls.allreduce;
  return -1;
}

int MPI_Init(int* argc, char*** argv) {
  calls.init++;
  return PMPI_Init(argc, argv);
}

int MPI_Finalize(void) {
  calls.finalize++;
  return PMPI_Finalize();
}

int MPI_Send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  calls.send++;
  return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

int MPI_Recv(void* buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
             MPI_Status* status) {
  calls.recv++;
  return PMPI_Recv(buf, count, datatype, source, tag, comm, status);
}

int MPI_Isend(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
              MPI_Request* request) {
  calls.isend++;
  return PMPI_Isend(buf, count, datatype, dest, tag, comm, request);
}

int MPI_Waitall(int count, MPI_Request array_of_requests[], MPI_Status array_of_statuses[]) {
  calls.waitall++;
  return PMPI_Waitall(count, array_of_requests, array_of_statuses);
}

int MPI_Allreduce(const void* sendbuf, void* recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm) {
  calls.allreduce++;
  return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}
