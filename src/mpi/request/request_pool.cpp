#include "mpi/request/request_pool.hpp"

#include <algorithm>

#include "mpi/request/request.hpp"

namespace tmpi::mpi {

RequestPool::RequestPool() = default;
RequestPool::~RequestPool() = default;

Request& RequestPool::take() {
  if (free_ == nullptr) [[unlikely]] {
    if (abandoned_ != nullptr) collect();
    if (free_ == nullptr) grow();
  }
  Request& request = *free_;
  free_ = request.next;
  request.next = nullptr;
  request.magic = Request::kMagic;
  request.mode = SendMode::kStandard;
  request.persistent = false;
  request.active = true;
  request.cancelled = false;
  request.error = MPI_SUCCESS;
  request.source = MPI_ANY_SOURCE;
  request.received_tag = MPI_ANY_TAG;
  request.bytes = 0;
  request.type = nullptr;
  request.comm = nullptr;
  request.reset();
  return request;
}

void RequestPool::give_back(Request& request) noexcept {
  if (request.type != nullptr) request.type->release();
  request.type = nullptr;
  if (request.extension != nullptr) [[unlikely]]
    request.extension = nullptr;
  if (request.comm != nullptr) release(*request.comm);
  request.comm = nullptr;
  request.magic = 0;
  request.next = free_;
  free_ = &request;
}

void RequestPool::abandon(Request& request) noexcept {
  request.magic = Request::kAbandoned;
  request.next = abandoned_;
  abandoned_ = &request;
}

int RequestPool::collect() noexcept {
  int pending = 0;
  Request** link = &abandoned_;
  while (*link != nullptr) {
    Request& request = **link;
    if (request.done()) {
      *link = request.next;
      if (request.extension != nullptr)
        (void)request.extension->retire(request);  // nobody is left to be told
      give_back(request);
    } else {
      link = &request.next;
      ++pending;
    }
  }
  return pending;
}

void RequestPool::grow() {
  // Few for a rank that uses few, then enough that growing does not matter.
  const std::size_t count = chunks_.empty() ? 4 : std::size_t{8} << std::min<std::size_t>(chunks_.size(), 7);
  chunks_.reserve(chunks_.size() + 1);  // so that nothing fails once the list below has changed
  auto chunk = std::make_unique<Request[]>(count);
  for (std::size_t i = count; i-- > 0;) {
    chunk[i].next = free_;
    free_ = &chunk[i];
  }
  chunks_.push_back(std::move(chunk));
}

}  // namespace tmpi::mpi
