// Buffered sends: the memory that a rank has attached with MPI_Buffer_attach, and the messages in it. MPI
// report, 3.6. Only the rank itself touches it.
#pragma once

#include <cstddef>
#include <vector>

#include "mpi/core/error.hpp"
#include "mpi/p2p/request.hpp"

namespace tmpi::mpi {

class SendBuffer {
 public:
  /// MPI_BUFFER_AUTOMATIC as `base`: memory comes from the heap as needed.
  SendBuffer(void* base, MPI_Count size) : base_(base), size_(size) {}
  ~SendBuffer();

  void* base() const noexcept { return base_; }
  MPI_Count size() const noexcept { return size_; }

  /// Copies the message into the buffer and starts sending it from there. MPI_ERR_BUFFER if there is no room.
  /// Does not suspend.
  Err send(Comm& comm, const void* buffer, MPI_Count count, const Datatype& type, int dest, int tag);
  /// Waits until every message has left the buffer (MPI_Buffer_detach). SUSPENDS.
  void drain() noexcept;

 private:
  struct Segment {
    std::byte* data;
    MPI_Count length;
    Request* request;
  };
  bool automatic() const noexcept { return base_ == MPI_BUFFER_AUTOMATIC; }
  void reclaim() noexcept;
  void dispose(Segment& segment) noexcept;
  std::byte* place(MPI_Count length, std::size_t& position) noexcept;

  void* base_;
  MPI_Count size_;
  std::vector<Segment> segments_;  // ordered by address
};

}  // namespace tmpi::mpi
