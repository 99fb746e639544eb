// The wait and test family over arrays of handles. MPI report, 3.7.3 to 3.7.5.
#pragma once

#include <span>

#include "mpi/p2p/lifecycle.hpp"
#include "mpi/rank/rank.hpp"

namespace tmpi::mpi {

/// An array of request handles, looked up once: active[i] is null where there is nothing to wait for. Small
/// arrays stay on the stack.
class RequestArray {
 public:
  explicit RequestArray(std::span<MPI_Request> handles) : handles_(handles) {}
  RequestArray(const RequestArray&) = delete;
  ~RequestArray();

  /// MPI_ERR_REQUEST for a bad handle, MPI_ERR_NO_MEM.
  Err look_up();

  int size() const noexcept { return static_cast<int>(handles_.size()); }
  int active_count() const noexcept { return active_; }
  /// Communicator of the first active request, kept alive by the array; null if there is none. Its error
  /// handler is in charge.
  Comm* comm() const noexcept { return comm_; }
  Request* const* data() const noexcept { return requests_; }
  Request* operator[](int i) const noexcept { return requests_[i]; }
  MPI_Request& handle(int i) noexcept { return handles_[static_cast<std::size_t>(i)]; }
  /// Index of the first request that is done, -1 if none.
  int first_done() const noexcept;
  bool all_done() const noexcept;

 private:
  static constexpr int kInline = 64;
  std::span<MPI_Request> handles_;
  Request* inline_[kInline];
  Request** requests_ = inline_;
  int active_ = 0;
  Comm* comm_ = nullptr;
};

/// Concludes all requests of the array (all done or inactive). MPI_ERR_IN_STATUS if any failed, with
/// MPI_ERROR set in each status.
Err conclude_all(RequestArray& requests, MPI_Status* statuses);

/// Concludes those that are done, writing indices and statuses; returns how many through `count`.
Err conclude_some(RequestArray& requests, int* count, int* indices, MPI_Status* statuses);

}  // namespace tmpi::mpi
