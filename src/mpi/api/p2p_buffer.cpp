// The buffer of buffered sends. MPI report, 3.6.
#include "mpi/api/profiled.hpp"
#include "mpi/core/call.hpp"
#include "mpi/core/check.hpp"
#include "mpi/p2p/buffered.hpp"

using namespace tmpi::mpi;

int PMPI_Buffer_attach(void* buffer, int size) {
  return on_rank("MPI_Buffer_attach", [&](Rank& rank) -> Err {
    if (rank.buffer != nullptr) {
      return fail(MPI_ERR_BUFFER, "a buffer of {} bytes is attached already: MPI_Buffer_detach it first",
                  rank.buffer->size());
    }
    if (size < 0) return fail(MPI_ERR_ARG, "size is {}: it must not be negative", size);
    TMPI_TRY(check_pointer(buffer, "buffer"));
    rank.buffer = std::make_unique<SendBuffer>(buffer, size);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Buffer_attach);

int PMPI_Buffer_detach(void* buffer_addr, int* size) {
  return on_rank("MPI_Buffer_detach", [&](Rank& rank) -> Err {
    TMPI_TRY(check_pointer(buffer_addr, "buffer_addr"));
    TMPI_TRY(check_pointer(size, "size"));
    if (rank.buffer == nullptr) return fail(MPI_ERR_BUFFER, "no buffer is attached");
    rank.buffer->drain();
    *static_cast<void**>(buffer_addr) = rank.buffer->base();
    *size = static_cast<int>(rank.buffer->size());
    rank.buffer.reset();
    return kOk;
  });
}
TMPI_PROFILED(MPI_Buffer_detach);
