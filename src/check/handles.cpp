#include "check/handles.hpp"

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

void open_ledger(CommRecord& record, const mpi::Comm& comm) {
  record.ledger = Ledger::of(comm.context);
  record.members_here = members_here(comm);
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
  if (kind == HandleKind::kComm) {
    const mpi::Comm* comm = comm_of(*rank, static_cast<MPI_Comm>(const_cast<void*>(handle)));
    open_ledger(tracked.comm, *comm);
  }
  return tracked;
}

void RankRecord::drop(Tracked& tracked, CallPlace freed) {
  end_operation(tracked);
  if (--tracked.handles > 0) return;
  tracked.live = false;
  tracked.freed = freed;
  tracked.comm.ledger.reset();
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

CommRecord* RankRecord::comm_record(MPI_Comm handle) {
  if (handle == MPI_COMM_WORLD || handle == MPI_COMM_SELF) {
    CommRecord& record = handle == MPI_COMM_WORLD ? world : self;
    const mpi::Comm* comm = comm_of(*rank, handle);
    if (comm == nullptr) return nullptr;
    if (record.ledger == nullptr) open_ledger(record, *comm);
    return &record;
  }
  Tracked* tracked = find(handle);
  return tracked != nullptr && tracked->live && tracked->kind == HandleKind::kComm ? &tracked->comm : nullptr;
}

}  // namespace tmpi::check
