#include "mpi/request/blocked.hpp"

#include "mpi/request/request.hpp"

namespace tmpi::mpi {
namespace {

std::uint64_t get(const sched::Task& task, detail::NoteWord word) noexcept {
  return task.note[word].load(std::memory_order_relaxed);
}

template <class T>
T* pointer(std::uint64_t word) noexcept {
  return reinterpret_cast<T*>(static_cast<std::uintptr_t>(word));
}

WaitKind kind_of(const Request& request) noexcept {
  switch (request.kind) {
    case RequestKind::kSend:
      return WaitKind::kSend;
    case RequestKind::kExtended:
      return WaitKind::kOperation;
    default:
      return WaitKind::kReceive;
  }
}

}  // namespace

Blocked blocked_on(const sched::Task& task) noexcept {
  Blocked blocked;
  const std::uint64_t what = get(task, detail::kWhat);
  blocked.kind = static_cast<WaitKind>(what & 0xff);
  if (blocked.kind == WaitKind::kNothing) {
    blocked.comm = pointer<const Comm>(get(task, detail::kCollectiveComm));
    blocked.context = get(task, detail::kCollectiveContext);
    if (blocked.comm != nullptr) blocked.kind = WaitKind::kCollective;
    return blocked;
  }
  blocked.first = static_cast<WaitKind>(what >> 8 & 0xff);
  blocked.pending = static_cast<int>(what >> 32);
  const std::uint64_t whom = get(task, detail::kWhom);
  blocked.peer = static_cast<int>(whom >> 32);
  blocked.tag = static_cast<int>(whom);
  blocked.context = get(task, detail::kContext);
  if (blocked.kind == WaitKind::kAll || blocked.kind == WaitKind::kAny) {
    blocked.array = pointer<Request* const>(get(task, detail::kWhere));
    blocked.size = static_cast<int>(get(task, detail::kSize));
  } else if (blocked.kind == WaitKind::kWindow) {
    blocked.window = pointer<const WindowWait>(get(task, detail::kWhere));
  } else {
    blocked.comm = pointer<const Comm>(get(task, detail::kWhere));
  }
  return blocked;
}

bool wait_for(sched::Waiter& waiter, WaitKind kind, Request* const* requests, int n, int pending) noexcept {
  sched::Task& task = waiter.task();
  const Request* first = nullptr;
  for (int i = 0; i < n && first == nullptr; ++i) {
    if (requests[i] != nullptr && !requests[i]->done()) first = requests[i];
  }
  WaitKind first_kind = WaitKind::kNothing;
  if (first != nullptr) {
    first_kind = kind_of(*first);
    detail::put(task, detail::kWhom, detail::pair_of(first->peer, first->tag));
    detail::put(task, detail::kContext, first->comm != nullptr ? first->comm->context : 0);
  }
  detail::put(task, detail::kWhere, reinterpret_cast<std::uintptr_t>(requests));
  detail::put(task, detail::kSize, static_cast<std::uint64_t>(n));
  detail::put(task, detail::kWhat, detail::what(kind, first_kind, pending));
  const bool suspended = waiter.wait();
  detail::put(task, detail::kWhat, 0);
  return suspended;
}

}  // namespace tmpi::mpi
