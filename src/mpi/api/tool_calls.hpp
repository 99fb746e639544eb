// How functions of the tools interface are written (MPI report, 15.3). They return their error class and call no error
// handler, may be called before MPI_Init and after MPI_Finalize, by any thread of the rank, and in event callbacks. None
// suspends, but for what callbacks do.
#pragma once

#include <cstring>
#include <mutex>
#include <string_view>

#include "mpi/api/profiled.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/rank/threads.hpp"
#include "mpi/tool/events.hpp"
#include "mpi/tool/state.hpp"

namespace tmpi::mpi {

/// Runs body(rank), which returns an error class. Events that callbacks without restrictions have waited for come first.
template <class Body>
int on_tool(Body&& body) noexcept {
  const sched::Inside inside(calling_tool_flow());
  Rank* const rank = calling_rank();
  const tool::State* const state = rank != nullptr ? rank->tools.load(std::memory_order_acquire) : nullptr;
  if (state == nullptr || !state->initialized()) return MPI_T_ERR_NOT_INITIALIZED;
  try {
    if (tool::Events* const events = rank->figures.events.load(std::memory_order_acquire);
        events != nullptr && sched::current() == rank->task)
      events->deliver(tool::Safety::kAnything);
    return body(*rank);
  } catch (const std::exception&) {
    return MPI_T_ERR_MEMORY;
  }
}

/// The same for body(state, rank), under the state's lock. Must not call the program.
template <class Body>
int on_tool_state(Body&& body) noexcept {
  return on_tool([&](Rank& rank) {
    tool::State& state = *rank.tools.load(std::memory_order_relaxed);
    const std::scoped_lock lock(state.lock());
    if (!state.initialized()) return MPI_T_ERR_NOT_INITIALIZED;  // another thread has finalized
    return body(state, rank);
  });
}

/// What the program holds of an object of the tools interface.
inline MPI_T_cvar_handle handle_of(tool::CvarHandle& handle) noexcept {
  return reinterpret_cast<MPI_T_cvar_handle>(&handle);
}
inline MPI_T_pvar_session handle_of(tool::PvarSession& session) noexcept {
  return reinterpret_cast<MPI_T_pvar_session>(&session);
}
inline MPI_T_pvar_handle handle_of(tool::PvarHandle& handle) noexcept {
  return reinterpret_cast<MPI_T_pvar_handle>(&handle);
}
inline MPI_T_event_registration handle_of(tool::Registration& registration) noexcept {
  return reinterpret_cast<MPI_T_event_registration>(&registration);
}

/// An output argument may be null: then it is not asked for.
template <class Value>
void give(Value* out, const Value& value) noexcept {
  if (out != nullptr) *out = value;
}

/// A string as 15.3.3 says: at most *length bytes with its end, and into *length what the whole would take. Nothing if
/// `length` is null; the length alone if there is no buffer.
inline void give_text(std::string_view text, char* buffer, int* length) noexcept {
  if (length == nullptr) return;
  if (buffer != nullptr && *length > 0) {
    const std::size_t kept = std::min(text.size(), static_cast<std::size_t>(*length) - 1);
    std::memcpy(buffer, text.data(), kept);
    buffer[kept] = '\0';
  }
  *length = static_cast<int>(text.size()) + 1;
}

/// Whether `index` is one of `count`.
inline bool is_index(int index, std::size_t count) noexcept {
  return index >= 0 && static_cast<std::size_t>(index) < count;
}

/// The communicator behind the address of a handle, as MPI_T_cvar_handle_alloc gets it; null: none now.
Comm* bound_comm(Rank& rank, void* object) noexcept;

}  // namespace tmpi::mpi
