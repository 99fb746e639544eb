#include "mpi/remote/memory.hpp"

#include <cstdlib>
#include <new>

#include "mpi/rank/endings.hpp"
#include "mpi/rank/rank.hpp"

namespace tmpi::mpi::remote {

void out_of_memory(Rank& rank, MPI_Count bytes) noexcept {
  end_job(rank, MPI_ERR_NO_MEM,
          "no memory for {} bytes of a message between rank {} and another node; use fewer ranks per node or "
          "smaller messages",
          bytes, rank.world_rank);
  std::abort();
}

std::unique_ptr<std::byte[]> take_memory(Rank& rank, MPI_Count bytes) noexcept {
  std::unique_ptr<std::byte[]> memory(new (std::nothrow) std::byte[static_cast<std::size_t>(bytes)]);
  if (memory == nullptr) out_of_memory(rank, bytes);
  return memory;
}

}  // namespace tmpi::mpi::remote
