// RequestPool: the request objects of one rank. Grows in chunks, never shrinks, so taking and giving back is
// a list operation. Only the rank itself uses it (MPI calls of one rank do not run at the same time below
// MPI_THREAD_MULTIPLE). take() and give_back() are defined in mpi/request/request.hpp.
#pragma once

#include <cstdint>
#include <vector>

#include "mpi/base/handle_memory.hpp"

namespace tmpi::mpi {

struct Request;

class RequestPool {
 public:
  RequestPool();
  ~RequestPool();

  /// A fresh pending request with its magic set. Allocates only when the pool is empty and no abandoned
  /// request has finished.
  Request& take();
  /// Takes a finished or inactive request back with its references to datatype and communicator; its handle
  /// is invalid from now on.
  void give_back(Request& request) noexcept;
  /// MPI_Request_free on an active request: given back once it has finished.
  void abandon(Request& request) noexcept;
  /// A number for a nonblocking send, by which MPI_Cancel finds its message again. A message carries the low
  /// 16 bits, which are never 0.
  std::uint64_t next_serial() noexcept {
    if ((++serial_ & 0xffff) == 0) ++serial_;
    return serial_;
  }
  std::uint64_t last_serial() const noexcept { return serial_; }
  // For ranks that are saved (mpi/save).
  using Chunk = std::vector<Request, InHandleMemory<Request, HandleKind::kRequest>>;
  const std::vector<Chunk>& chunks() const noexcept { return chunks_; }
  /// Calls use(request) for all that are taken, abandoned ones among them.
  template <class Use>
  void for_each(Use use) const;
  /// One more chunk, of whose requests none is free.
  Chunk& revive_chunk(std::size_t count);
  void go_on_behind(std::uint64_t serial) noexcept { serial_ = serial; }

  /// Gives back those abandoned requests that have finished; returns how many have not.
  int collect() noexcept;

 private:
  friend struct FactsOfQueues;  // mpi/diagnose/debugger_queue_facts.cpp
  [[gnu::cold]] void find_some();
  void grow();
  std::uint64_t serial_ = 0;
  Request* free_ = nullptr;
  Request* abandoned_ = nullptr;
  std::vector<Chunk> chunks_;  // none is ever resized
};

}  // namespace tmpi::mpi
