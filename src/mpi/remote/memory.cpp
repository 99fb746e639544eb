#include "mpi/remote/memory.hpp"

#include <new>

#include "mpi/base/no_memory.hpp"

namespace tmpi::mpi::remote {

void out_of_memory() noexcept {
  end_for_no_memory("a message between nodes");
}

std::unique_ptr<std::byte[]> take_memory(MPI_Count bytes) noexcept {
  std::unique_ptr<std::byte[]> memory(new (std::nothrow) std::byte[static_cast<std::size_t>(bytes)]);
  if (memory == nullptr) out_of_memory();
  return memory;
}

}  // namespace tmpi::mpi::remote
