// The frame of every MPI function: is the library initialized, who calls, what happens with an error. Thin C
// API functions are written as
//
//   int PMPI_Send(...) {
//     return on_comm("MPI_Send", comm, [&](Comm& c) -> Err {
//       TMPI_TRY(check_...);
//       return send(...);
//     });
//   }
//   TMPI_PROFILED(MPI_Send);
#pragma once

#include <utility>

#include "mpi/base/errhandler.hpp"
#include "mpi/base/no_memory.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/rank/threads.hpp"

namespace tmpi::mpi {

/// A stay in MPI, from the entry to the return to user code, with `name` noted as the call the rank is in
/// (for state dumps of blocked ranks and error messages). Everything that touches the library's state happens
/// while one lives: it keeps the rank's other threads out (docs/design/threads.md). They nest.
class Frame {
 public:
  [[gnu::always_inline]] explicit Frame(const char* name) noexcept : flow_(calling_flow()), inside_(flow_) {
    // As Rank::set_call(), but without looking for the task, which would cost a small message 4 %.
    if (flow_ != nullptr && flow_->kind != sched::TaskKind::kThread) [[likely]]
      (flow_->kind == sched::TaskKind::kRank ? *flow_ : *caller()->task)
          .call.store(name, std::memory_order_relaxed);
  }

  /// The calling rank; null if MPI is not initialized, already finalized, or not for this thread.
  Rank* rank() const noexcept {
    if (flow_ == nullptr) [[unlikely]]
      return nullptr;
    Rank* rank = caller();
    return rank->phase == Phase::kInitialized ? rank : nullptr;
  }
  /// The same in any phase.
  Rank* caller() const noexcept { return flow_ != nullptr ? static_cast<Rank*>(flow_->owner) : nullptr; }

 private:
  sched::Task* const flow_;
  const sched::Inside inside_;
};

/// The object that an error is raised on: its kind, handle and error handler (null: MPI_ERRORS_ARE_FATAL).
struct ErrorTarget {
  Raiser kind;
  void* handle;
  Errhandler* handler;
};
inline ErrorTarget target_of(const Comm& comm) noexcept {
  if (comm.raised_on != nullptr) return *comm.raised_on;
  return {Raiser::kComm, comm.handle, comm.errhandler};
}

/// Decides on an error: invokes the object's error handler with the code, or ends the job with a message that
/// names call, rank, host, class and explanation. Returns the code if the handler returns. A handler of the
/// program may call MPI: SUSPENDS. Cold.
[[gnu::cold]] int raise_on(const char* name, const ErrorTarget& target, Err error);

/// The same on a communicator; null: on MPI_COMM_SELF, where errors without an object belong (MPI 4: 9.3).
[[gnu::cold]] int raise(const char* name, Comm* comm, Err error);

/// MPI_X_call_errhandler: invokes the handler with a code of the program's choice. SUSPENDS.
void call_errhandler(const char* name, const ErrorTarget& target, int code);

/// MPI_ERR_COMM for a handle that is no communicator: raised on MPI_COMM_SELF.
[[gnu::cold]] int raise_bad_comm(const char* name, MPI_Comm handle);

/// A call before MPI_Init or after MPI_Finalize, or by a thread that must not call: ends the job with a
/// sentence.
[[gnu::cold]] int raise_not_initialized(const char* name);

// All of this is part of the MPI function: left out of line, as the compiler would in a large translation unit,
// each of these layers costs a call.
//
// The bodies below are guarded(): what cannot be allocated is MPI_ERR_NO_MEM. An error handler is called
// outside of that, so that whoever calls MPI may catch what it throws.

/// Runs `body(Comm&)` for a call with a communicator.
template <class Body>
[[gnu::always_inline]] inline int on_comm(const char* name, MPI_Comm handle, Body&& body) {
  const Frame frame(name);
  Rank* const rank = frame.rank();
  if (rank == nullptr) [[unlikely]]
    return raise_not_initialized(name);
  Comm* comm = comm_from(*rank, handle);
  if (comm == nullptr) [[unlikely]]
    return raise_bad_comm(name, handle);
  if (Err error = guarded([&]() -> Err { return body(*comm); })) [[unlikely]]
    return raise(name, comm, error);
  return MPI_SUCCESS;
}

/// The same for what may be said of a communicator while its MPI_Comm_idup is under way: all that does not communicate
/// and is in force from its completion on.
template <class Body>
int on_coming_comm(const char* name, MPI_Comm handle, Body&& body) {
  const Frame frame(name);
  Rank* const rank = frame.rank();
  if (rank == nullptr) return raise_not_initialized(name);
  Comm* comm = coming_comm_from(*rank, handle);
  if (comm == nullptr) return raise_bad_comm(name, handle);
  if (Err error = guarded([&]() -> Err { return body(*comm); })) return raise(name, comm, error);
  return MPI_SUCCESS;
}

/// Runs the caller's part of what `members` ranks do together: the others have begun, or will, and cannot be told that
/// this one has given up. So whatever is thrown, the job ends, saying that there was no memory for `part`, unless the
/// rank is alone.
template <class Body>
[[gnu::always_inline]] inline Err do_part(int members, const char* part, Body&& body) {
  try {
    return body();
  } catch (const std::exception& thrown) {
    if (members > 1) end_for(thrown, part);
    throw;
  }
}

/// The same as on_comm() for a call that all members make together: do_part(), written out, since one more lambda costs
/// a barrier 2 %.
template <class Body>
[[gnu::always_inline]] inline int on_collective(const char* name, MPI_Comm handle, Body&& body) {
  return on_comm(name, handle, [&](Comm& comm) -> Err {
    try {
      return body(comm);
    } catch (const std::exception& thrown) {
      if (comm.members() > 1) end_for(thrown, "its part of what all members of a communicator do together");
      throw;
    }
  });
}

/// Runs `body(Rank&)` for a call without a communicator.
template <class Body>
[[gnu::always_inline]] inline int on_rank(const char* name, Body&& body) {
  const Frame frame(name);
  Rank* rank = frame.rank();
  if (rank == nullptr) [[unlikely]]
    return raise_not_initialized(name);
  if (Err error = guarded([&]() -> Err { return body(*rank); })) [[unlikely]]
    return raise(name, nullptr, error);
  return MPI_SUCCESS;
}

/// Runs `body()` for a call that is allowed before MPI_Init and after MPI_Finalize and needs no rank
/// (MPI_Type_size of predefined types is not among them, MPI_Get_version is).
template <class Body>
[[gnu::always_inline]] inline int anywhere(const char* name, Body&& body) {
  const Frame frame(name);
  if (Err error = guarded(body)) [[unlikely]]
    return raise(name, nullptr, error);
  return MPI_SUCCESS;
}

}  // namespace tmpi::mpi
