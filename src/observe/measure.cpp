#include "observe/measure.hpp"

#include "mpi/base/status.hpp"
#include "mpi/comm/topology.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/p2p/lifecycle.hpp"

namespace tmpi::observe {

MPI_Count size_of(MPI_Datatype type) noexcept {
  const mpi::Datatype* known = mpi::datatype_from(type);
  return known == nullptr ? 0 : known->size();
}

MPI_Count size_of_request(MPI_Request handle) noexcept {
  mpi::Request* request = nullptr;
  if (mpi::request_from(handle, request) || request == nullptr) return 0;
  if (request->type == nullptr || request->peer == MPI_PROC_NULL)
    return 0;  // an operation of several messages
  return request->count * request->type->size();
}

MPI_Count bytes_of(const MPI_Status& status) noexcept {
  return mpi::status_bytes(status);
}

int destinations_of(MPI_Comm handle) noexcept {
  const mpi::Comm* comm = mpi::comm_from(handle);
  mpi::Neighbours neighbours;
  if (comm == nullptr || mpi::neighbours(*comm, neighbours)) return 0;
  return static_cast<int>(neighbours.destinations.size());
}

}  // namespace tmpi::observe
