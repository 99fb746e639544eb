#include "mpi/save/rank_state.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "mpi/base/handle_memory.hpp"
#include "mpi/coll/coll.hpp"
#include "mpi/init/lifetime.hpp"
#include "mpi/io/file.hpp"
#include "mpi/p2p/buffered.hpp"
#include "mpi/rank/call.hpp"
#include "mpi/rank/counters.hpp"
#include "mpi/rank/new_context.hpp"
#include "mpi/rma/window.hpp"
#include "mpi/save/objects.hpp"
#include "mpi/save/save.hpp"
#include "mpi/save/under_way.hpp"

namespace tmpi::mpi {
namespace {

template <class T>
T& object(void* at) noexcept {
  return *static_cast<T*>(at);
}

/// The library's own communicators, which it makes when it needs them, have no handle.
bool has_handle(const Comm& comm) noexcept {
  return comm.handle == reinterpret_cast<MPI_Comm>(const_cast<Comm*>(&comm));
}

std::string why_not(HandleKind kind, void* at) {
  switch (kind) {
    case HandleKind::kComm:
      return has_handle(object<Comm>(at)) ? why_not(object<Comm>(at)) : "";
    case HandleKind::kDatatype:
      return why_not(object<Datatype>(at));
    case HandleKind::kGroup:
      return why_not_group(static_cast<MPI_Group>(at));
    case HandleKind::kWindow:
      return why_not(object<Window>(at));
    case HandleKind::kFile:
      return why_not(object<File>(at));
    default:
      return "";
  }
}

void save_object(Packer& to, HandleKind kind, void* at) {
  switch (kind) {
    case HandleKind::kErrhandler:
      return save(to, object<Errhandler>(at));
    case HandleKind::kInfo:
      return save(to, object<Info>(at));
    case HandleKind::kOp:
      return save(to, object<Op>(at));
    case HandleKind::kGroup:
      return save_group(to, static_cast<MPI_Group>(at));
    case HandleKind::kDatatype:
      return save(to, object<Datatype>(at));
    case HandleKind::kComm:
      return save(to, object<Comm>(at));
    case HandleKind::kWindow:
      return save(to, object<Window>(at));
    case HandleKind::kFile:
      return save(to, object<File>(at));
    case HandleKind::kRequest:
      break;  // save_requests()
  }
}

void save_objects(Packer& to, const HandleMemory& memory) {
  memory.for_each([&](HandleKind kind, void* at) {
    const bool own = kind != HandleKind::kComm || has_handle(object<Comm>(at));
    if (!own || kind == HandleKind::kRequest) return;
    to.value(true);
    to.value(kind);
    to.value(reinterpret_cast<std::uintptr_t>(at));
    save_object(to, kind, at);
  });
  to.value(false);
}

Err revive_objects(Unpacker& from, Rank& rank, HandleMemory& memory) {
  std::vector<Datatype*> freed;
  while (from.value<bool>()) {
    const auto kind = from.value<HandleKind>();
    memory.expect(reinterpret_cast<void*>(from.value<std::uintptr_t>()));
    switch (kind) {
      case HandleKind::kErrhandler:
        revive_errhandler(from);
        break;
      case HandleKind::kInfo:
        revive_info(from);
        break;
      case HandleKind::kOp:
        revive_op(from);
        break;
      case HandleKind::kGroup:
        revive_group(from);
        break;
      case HandleKind::kDatatype: {
        Datatype* type = nullptr;
        bool has_no_handle = false;
        TMPI_TRY(revive_datatype(from, memory, type, has_no_handle));
        if (has_no_handle) freed.push_back(type);
        break;
      }
      case HandleKind::kComm:
        revive_comm(from, rank);
        break;
      case HandleKind::kWindow:
        TMPI_TRY(revive_window(from, rank));
        break;
      case HandleKind::kFile:
        TMPI_TRY(revive_file(from));
        break;
      case HandleKind::kRequest:
        return fail(MPI_ERR_INTERN, "a request among the objects");
    }
  }
  take_requests(from, rank);
  for (const Datatype* type : freed) type->release();  // but for requests that have them
  return kOk;
}

void save_buffers(Packer& to, const Rank& rank) {
  for (const SendBuffer* each = rank.buffer.get(); each != nullptr; each = each->next.get()) {
    const auto* const owner = static_cast<const Comm*>(each->owner());  // sessions are none
    to.value(true);
    to.value(reinterpret_cast<std::uintptr_t>(owner == nullptr ? MPI_COMM_NULL : owner->handle));
    to.value(reinterpret_cast<std::uintptr_t>(each->base()));
    to.value(each->size());
  }
  to.value(false);
}

Err take_buffers(Unpacker& from, Rank& rank) {
  while (from.value<bool>()) {
    MPI_Comm const owner = reinterpret_cast<MPI_Comm>(from.value<std::uintptr_t>());
    auto* const base = reinterpret_cast<void*>(from.value<std::uintptr_t>());
    const Comm* const comm = owner == MPI_COMM_NULL ? nullptr : comm_from(rank, owner);
    TMPI_TRY(attach_buffer(rank, comm, base, from.value<MPI_Count>()));
  }
  return kOk;
}

void save_interop(Packer& to, const Interop& interop) {
  const std::vector<void*> handles = interop.handles.in_order();
  to.value(handles.size());
  for (void* const handle : handles) to.value(reinterpret_cast<std::uintptr_t>(handle));
  to.value(interop.logical_size);
  to.value(interop.logical_true);
  to.value(interop.logical_false);
}

void take_interop(Unpacker& from, Interop& interop) {
  for (auto count = from.value<std::size_t>(); count > 0; --count)
    (void)interop.handles.to_int(reinterpret_cast<void*>(from.value<std::uintptr_t>()));
  interop.logical_size = from.value<int>();
  interop.logical_true = from.value<Interop::Logical>();
  interop.logical_false = from.value<Interop::Logical>();
}

}  // namespace

std::string why_not_saved(Rank& rank) {
  if (rank.world_phase != Phase::kInitialized) return "has not called MPI_Init";
  if (rank.open_sessions > 0) return "has sessions";
  if (rank.parent != nullptr || rank.has_ports)
    return "is connected with ranks of another world (MPI_Comm_spawn, ports)";
  if (std::string requests = why_not_requests(rank); !requests.empty()) return requests;
  if (rank.matched != nullptr) return "has a message from MPI_Mprobe that it has not received";
  if (std::string files = why_not_files(rank); !files.empty()) return files;
  if (rank.tools.load() != nullptr) return "uses the tools interface (MPI_T)";
  if (Counters::any(rank)) return "has counters open (MPIX_Counter_open)";
  std::string why;
  HandleMemory::of_calling_rank()->for_each([&](HandleKind kind, void* at) {
    if (why.empty()) why = why_not(kind, at);
  });
  return why;
}

std::vector<std::byte> saved_rank_state(Rank& rank) {
  Packer to;
  to.value(rank.thread_level.load());
  to.value(HandleMemory::of_calling_rank()->end());
  to.value(rank.pinned);
  to.value(contexts_made());
  save_user_errors(to, rank);
  save_keyvals(to, rank);
  save_objects(to, *HandleMemory::of_calling_rank());
  save_requests(to, rank);
  save_messages(to, rank);
  save_attributes_of_predefined(to, rank);
  save_settings(to, rank.world);
  save_settings(to, rank.self);
  save_buffers(to, rank);
  save_rank_files(to, rank);
  save_interop(to, rank.interop);
  return to.bytes();
}

Err revive(Rank& rank, std::span<const std::byte> state) {
  Unpacker from(state);
  const int level = from.value<int>();
  HandleMemory& memory = *HandleMemory::of_calling_rank();
  memory.go_on_behind(from.value<std::uintptr_t>());  // before anything of MPI's is made
  if (rank.world_phase == Phase::kInitialized)
    raise_thread_level(rank, level);
  else
    TMPI_TRY(initialize(rank, level));
  rank.pinned = from.value<bool>();
  skip_contexts(from.value<std::uint64_t>());
  take_user_errors(from, rank);
  take_keyvals(from, rank);
  TMPI_TRY(revive_objects(from, rank, memory));
  TMPI_TRY(take_messages(from, rank));
  take_attributes_of_predefined(from, rank);
  take_settings(from, rank.world);
  take_settings(from, rank.self);
  TMPI_TRY(take_buffers(from, rank));
  take_rank_files(from, rank);
  take_interop(from, rank.interop);
  rank.revived = true;
  return kOk;
}

Err wait_for_revived(Rank& rank) {
  return barrier(rank.world);
}

}  // namespace tmpi::mpi
