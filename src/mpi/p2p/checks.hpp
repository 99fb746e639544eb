// Argument checks of the point-to-point calls.
#pragma once

#include "mpi/comm/check.hpp"
#include "mpi/datatype/check.hpp"

namespace tmpi::mpi {

[[gnu::always_inline]] inline Err check_send(const Comm& comm, const void* buf, MPI_Count count,
                                             MPI_Datatype datatype, int dest, int tag, Datatype*& type) {
  TMPI_TRY(check_buffer(buf, count, datatype, type));
  TMPI_TRY(check_dest(comm, dest));
  return check_send_tag(tag);
}

[[gnu::always_inline]] inline Err check_recv(const Comm& comm, const void* buf, MPI_Count count,
                                             MPI_Datatype datatype, int source, int tag, Datatype*& type) {
  TMPI_TRY(check_buffer(buf, count, datatype, type));
  TMPI_TRY(check_source(comm, source));
  return check_recv_tag(tag);
}

}  // namespace tmpi::mpi
