#include "mpi/save/rank_state.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <utility>

#include "mpi/base/handle_memory.hpp"
#include "mpi/base/user_errors.hpp"
#include "mpi/coll/coll.hpp"
#include "mpi/init/lifetime.hpp"
#include "mpi/match/matcher.hpp"
#include "mpi/p2p/buffered.hpp"
#include "mpi/rank/attributes.hpp"
#include "mpi/rank/call.hpp"
#include "mpi/rank/counters.hpp"
#include "mpi/rank/new_context.hpp"
#include "mpi/save/objects.hpp"
#include "mpi/save/save.hpp"

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
      return "has a window";
    case HandleKind::kFile:
      return "has an MPI file open";
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
    case HandleKind::kFile:
      break;  // why_not_saved()
  }
}

void save_objects(Packer& to, const HandleMemory& memory) {
  memory.for_each([&](HandleKind kind, void* at) {
    if (kind == HandleKind::kComm && !has_handle(object<Comm>(at))) return;
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
      case HandleKind::kFile:
        return fail(MPI_ERR_INTERN, "windows and files are not saved");
    }
  }
  for (const Datatype* type : freed) type->release();
  return kOk;
}

bool has_attributes(const Comm& comm) noexcept {
  return comm.attributes != nullptr && !comm.attributes->entries.empty();
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
  if (const int pending = rank.requests.in_use(); pending > 0)
    return fmt::format("has {} request{}, persistent ones included, that it has not freed or waited for",
                       pending, pending == 1 ? "" : "s");
  if (rank.matched != nullptr) return "has a message from MPI_Mprobe that it has not received";
  if (rank.buffer.get() != nullptr) return "has a buffer attached (MPI_Buffer_attach)";
  if (rank.user_errors != nullptr && rank.user_errors->any()) return "has error classes or codes of its own";
  if (rank.keyvals != nullptr && rank.keyvals->any()) return "has attribute keys (MPI_Comm_create_keyval)";
  if (has_attributes(rank.world) || has_attributes(rank.self)) return "has attributes on a communicator";
  if (rank.files.get() != nullptr) return "has an error handler or a data representation for files";
  if (rank.tools.load() != nullptr) return "uses the tools interface (MPI_T)";
  if (Counters::any(rank)) return "has counters open (MPIX_Counter_open)";
  std::string why;
  HandleMemory::of_calling_rank()->for_each([&](HandleKind kind, void* at) {
    if (why.empty()) why = why_not(kind, at);
  });
  return why;
}

std::string why_not_settled(Rank& rank) {
  const MatcherLock lock(rank.matcher);
  int messages = 0;
  // Who has gone on already may have begun what all do together next.
  for (const Message* each = rank.matcher.first_unexpected(); each != nullptr; each = each->next)
    messages += (each->key.context & kCollective) == 0 ? 1 : 0;
  if (messages == 0) return "";
  return fmt::format("has not received {} message{} that {} been sent to it", messages,
                     messages == 1 ? "" : "s", messages == 1 ? "has" : "have");
}

std::vector<std::byte> saved_rank_state(Rank& rank) {
  Packer to;
  to.value(rank.thread_level.load());
  to.value(rank.pinned);
  to.value(contexts_made());
  to.value(HandleMemory::of_calling_rank()->end());
  save_objects(to, *HandleMemory::of_calling_rank());
  save_settings(to, rank.world);
  save_settings(to, rank.self);
  save_interop(to, rank.interop);
  return to.bytes();
}

Err take_rank_state(Rank& rank, std::span<const std::byte> state) {
  Unpacker from(state);
  rank.thread_level = from.value<int>();
  rank.pinned = from.value<bool>();
  skip_contexts(from.value<std::uint64_t>());
  HandleMemory& memory = *HandleMemory::of_calling_rank();
  memory.go_on_behind(from.value<std::uintptr_t>());
  TMPI_TRY(revive_objects(from, rank, memory));
  take_settings(from, rank.world);
  take_settings(from, rank.self);
  take_interop(from, rank.interop);
  rank.revived = true;
  return kOk;
}

Err revive(Rank& rank, std::span<const std::byte> state) {
  Unpacker from(state);
  const int level = from.value<int>();
  if (rank.world_phase == Phase::kInitialized)
    raise_thread_level(rank, level);
  else
    TMPI_TRY(initialize(rank, level));
  TMPI_TRY(take_rank_state(rank, state));
  return barrier(rank.world);
}

}  // namespace tmpi::mpi
