// For unit tests: whole vectors of bytes as messages, whose calls must succeed.
#pragma once

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

#include "mpi/base/status.hpp"
#include "mpi/p2p/p2p.hpp"

namespace tmpi::mpi::testing {

inline const Datatype& bytes() {
  return *datatype_from(MPI_BYTE);
}

/// Data of which no part looks like another that lies a power of two further on. Nobody else sees the vector yet.
[[gnu::no_sanitize_thread, gnu::no_sanitize_address]] inline std::vector<char> pattern(std::size_t size,
                                                                                       int seed) {
  std::vector<char> data(size);
  char* const out = data.data();
  for (std::size_t i = 0; i < size; ++i)
    out[i] = static_cast<char>(i % 251 * 7 + static_cast<std::size_t>(seed) * 13);
  return data;
}

inline void send_bytes(Comm& comm, const std::vector<char>& data, int dest, int tag,
                       SendMode mode = SendMode::kStandard) {
  CHECK_FALSE(
      send(comm, comm.context, data.data(), static_cast<MPI_Count>(data.size()), bytes(), dest, tag, mode));
}

/// What has come; `capacity`: of the receive's buffer.
inline std::vector<char> recv_bytes(Comm& comm, std::size_t capacity, int source, int tag,
                                    MPI_Status* status = MPI_STATUS_IGNORE) {
  std::vector<char> data(capacity);
  MPI_Status mine;
  CHECK_FALSE(
      recv(comm, comm.context, data.data(), static_cast<MPI_Count>(capacity), bytes(), source, tag, &mine));
  data.resize(static_cast<std::size_t>(status_bytes(mine)));
  if (status != MPI_STATUS_IGNORE) *status = mine;
  return data;
}

}  // namespace tmpi::mpi::testing
