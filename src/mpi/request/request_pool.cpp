#include "mpi/request/request_pool.hpp"

#include <algorithm>

#include "mpi/request/request.hpp"

namespace tmpi::mpi {

RequestPool::RequestPool() = default;
RequestPool::~RequestPool() = default;

void RequestPool::find_some() {
  if (abandoned_ != nullptr) collect();
  if (free_ == nullptr) grow();
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

RequestPool::Chunk& RequestPool::revive_chunk(std::size_t count) {
  return chunks_.emplace_back(count);
}

void RequestPool::grow() {
  // Few for a rank that uses few, then enough that growing does not matter.
  const std::size_t count = chunks_.empty() ? 4 : std::size_t{8} << std::min<std::size_t>(chunks_.size(), 7);
  chunks_.reserve(chunks_.size() + 1);  // so that nothing fails once the list below has changed
  Chunk chunk(count);
  for (std::size_t i = count; i-- > 0;) {
    chunk[i].next = free_;
    free_ = &chunk[i];
  }
  chunks_.push_back(std::move(chunk));
}

}  // namespace tmpi::mpi
