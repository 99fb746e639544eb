#include "check/handles.hpp"

#include "mpi/io/file.hpp"
#include "mpi/rma/window.hpp"

namespace tmpi::check {
namespace {

int members_here(const mpi::Comm& comm) {
  mpi::Job& job = *mpi::job();
  if (job.all_nodes() == 1) return comm.members();
  int members = 0;
  for (const mpi::Group* group : {comm.shared->group.get(), comm.shared->peers.get()}) {
    for (int i = 0; i < group->size(); ++i) members += job.local(group->world_rank(i)) != nullptr ? 1 : 0;
    if (!comm.inter()) break;
  }
  return members;
}

void open_ledger(CallOrder& order, const mpi::Comm& comm) {
  order.ledger = Ledger::of(comm.context);
  order.members_here = members_here(comm);
}

}  // namespace

const char* name_of(HandleKind kind) noexcept {
  static constexpr std::array<const char*, kHandleKinds> kNames = {
      "communicator",  "datatype", "request", "group", "operator", "info object",
      "error handler", "session",  "message", "file",  "window"};
  return kNames[static_cast<std::size_t>(kind)];
}

const mpi::Comm* comm_of(const mpi::Rank& rank, MPI_Comm handle) noexcept {
  if (handle == MPI_COMM_WORLD) return rank.world.shared != nullptr ? &rank.world : nullptr;
  if (handle == MPI_COMM_SELF) return rank.self.shared != nullptr ? &rank.self : nullptr;
  return predefined(handle) ? nullptr : reinterpret_cast<const mpi::Comm*>(handle);
}

const mpi::Comm* members_of(const mpi::Rank& rank, HandleKind kind, const void* handle) noexcept {
  void* const object = const_cast<void*>(handle);
  if (kind == HandleKind::kComm) return comm_of(rank, static_cast<MPI_Comm>(object));
  if (kind == HandleKind::kWin) {
    const mpi::Window* window = mpi::window_from(static_cast<MPI_Win>(object));
    return window == nullptr ? nullptr : window->comm;
  }
  const mpi::File* file = kind == HandleKind::kFile ? mpi::file_from(static_cast<MPI_File>(object)) : nullptr;
  return file == nullptr ? nullptr : file->comm;
}

Tracked& RankRecord::add(const void* handle, HandleKind kind, CallPlace made, bool constant) {
  Tracked& tracked = handles[handle];
  const bool shared = kind == HandleKind::kErrhandler || kind == HandleKind::kType;
  if (tracked.live && tracked.kind == kind && shared) {
    ++tracked.handles;
    return tracked;
  }
  end_operation(tracked);  // of an object whose end could not be seen
  tracked = Tracked{};
  tracked.kind = kind;
  tracked.live = true;
  tracked.constant = constant;
  tracked.handles = 1;
  tracked.serial = next_serial++;
  tracked.made = made;
  if (const mpi::Comm* members = members_of(*rank, kind, handle)) open_ledger(tracked.order, *members);
  return tracked;
}

void RankRecord::announce(const void* comm, CallPlace made) {
  Tracked& tracked = handles[comm];
  end_operation(tracked);
  tracked = Tracked{};
  tracked.live = tracked.coming = true;
  tracked.handles = 1;
  tracked.serial = next_serial++;
  tracked.made = made;
}

void RankRecord::drop(Tracked& tracked, CallPlace freed) {
  end_operation(tracked);
  if (--tracked.handles > 0) return;
  tracked.live = false;
  tracked.freed = freed;
  tracked.order.ledger.reset();
  tracked.operation.reset();
}

void RankRecord::begin_operation(Tracked& request) {
  Operation* operation = request.operation.get();
  if (operation == nullptr || operation->pending) return;
  for (int i = 0; i < operation->count; ++i) {
    const auto place = static_cast<std::size_t>(i);
    operation->entries[place] = pending.add(operation->accesses[place], request);
  }
  operation->pending = true;
}

void RankRecord::end_operation(Tracked& request) {
  Operation* operation = request.operation.get();
  if (operation == nullptr) return;
  if (operation->pending) {
    for (int i = 0; i < operation->count; ++i)
      pending.remove(operation->entries[static_cast<std::size_t>(i)]);
    operation->pending = false;
  }
  if (operation->later != nullptr) {
    const MPI_Comm made = *std::exchange(operation->later, nullptr);
    const CallPlace place = request.made;
    if (!predefined(made)) add(made, HandleKind::kComm, place, false);
  }
}

CallOrder* RankRecord::order_of(HandleKind kind, const void* handle) {
  if (handle == MPI_COMM_WORLD || handle == MPI_COMM_SELF) {
    CallOrder& order = handle == MPI_COMM_WORLD ? world : self;
    const mpi::Comm* comm = members_of(*rank, kind, handle);
    if (comm == nullptr) return nullptr;
    if (order.ledger == nullptr) open_ledger(order, *comm);
    return &order;
  }
  Tracked* tracked = find(handle);
  const bool there = tracked != nullptr && tracked->live && tracked->kind == kind && !tracked->coming;
  return there ? &tracked->order : nullptr;
}

}  // namespace tmpi::check
