#include "mpi/rank/call.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "mpi/base/errhandler.hpp"
#include "mpi/base/error_classes.hpp"
#include "mpi/base/format_into.hpp"
#include "mpi/base/user_errors.hpp"
#include "mpi/rank/endings.hpp"
#include "mpi/rank/forked.hpp"

namespace tmpi::mpi {
namespace {

// Ends the job with "... MPI_Send failed: MPI_ERR_TAG (invalid tag): why", or with what the program said of a code
// that it added.
void end_for_error(Rank& rank, const char* name, int code) {
  const std::string why = take_explanation();
  const ErrorClass* known = error_class(code);
  const UserErrors* added = rank.user_errors.get();
  char number[32];
  format_into(number, "error {}", code);
  std::string_view meaning = "which is no error code";
  if (known != nullptr) {
    meaning = known->text;
  } else if (added != nullptr && added->knows(code)) {
    meaning = added->text(code);
    if (meaning.empty()) meaning = "added by the program";
  }
  end_job(rank, code, "rank {} on {}: {} failed: {} ({}){}{}", rank.world_rank, job()->host(), name,
          known != nullptr ? known->name : number, meaning, why.empty() ? "" : ": ", why);
}

// Errors without a communicator belong to MPI_COMM_SELF (MPI-4); programs written for MPI-3 set the handler
// of MPI_COMM_WORLD only.
Comm& comm_in_charge(Rank& rank) {
  return rank.self.errhandler != nullptr ? rank.self : rank.world;
}

template <class Callback, class Handle>
void invoke_as(Errhandler::Function function, void* handle, int code) {
  auto typed = static_cast<Handle>(handle);
  reinterpret_cast<Callback*>(function)(&typed, &code);
}

// The handler stays alive while it runs, even if it takes itself off the object, and even if it throws.
struct Kept {
  explicit Kept(Errhandler* kept) noexcept : handler(kept) { retain(handler); }
  ~Kept() { release(handler); }
  Kept(const Kept&) = delete;
  Errhandler* const handler;
};

void invoke(Errhandler* handler, Raiser kind, void* handle, int code) {
  const Kept kept(handler);
  switch (kind) {
    case Raiser::kComm:
      invoke_as<MPI_Comm_errhandler_function, MPI_Comm>(handler->function, handle, code);
      break;
    case Raiser::kSession:
      invoke_as<MPI_Session_errhandler_function, MPI_Session>(handler->function, handle, code);
      break;
    case Raiser::kWin:
      invoke_as<MPI_Win_errhandler_function, MPI_Win>(handler->function, handle, code);
      break;
    case Raiser::kFile:
      invoke_as<MPI_File_errhandler_function, MPI_File>(handler->function, handle, code);
      break;
  }
}

// True if the handler has decided that the program goes on.
bool handled(const ErrorTarget& target, int code) {
  if (target.handler == nullptr) return false;
  if (target.handler->predefined == MPI_ERRORS_RETURN) return true;
  if (target.handler->function == nullptr) return false;
  invoke(target.handler, target.kind, target.handle, code);
  return true;
}

// A program started by itself, before MPI_Init: there is no job yet.
[[noreturn]] void end_without_job(const char* name) {
  std::fprintf(stderr, "tmpi: %s failed before MPI_Init: %s\n", name, take_explanation().c_str());
  std::exit(EXIT_FAILURE);
}

}  // namespace

int raise_on(const char* name, const ErrorTarget& target, Err error) {
  const int code = error.error_class();
  if (in_forked_child()) refuse_in_forked_child(name, EXIT_FAILURE);
  Rank* rank = calling_rank();
  // Whoever opens a session brings its handler along, and may do so when MPI is not usable (11.3.1).
  const bool in_charge =
      target.kind == Raiser::kSession || (rank != nullptr && rank->phase == Phase::kInitialized);
  if (rank != nullptr) rank->returned_error = code;
  if (in_charge && handled(target, code)) return code;
  if (rank == nullptr) end_without_job(name);
  // MPI_ERRORS_ABORT, too, ends all connected processes, as MPI_Abort on any communicator does (9.7).
  end_for_error(*rank, name, code);
  return code;
}

int raise(const char* name, Comm* comm, Err error) {
  Rank* rank = calling_rank();
  if (in_forked_child()) refuse_in_forked_child(name, EXIT_FAILURE);
  if (rank == nullptr) end_without_job(name);
  if (comm == nullptr) comm = &comm_in_charge(*rank);
  return raise_on(name, target_of(*comm), error);
}

void call_errhandler(const char* name, const ErrorTarget& target, int code) {
  (void)raise_on(name, target, fail(code, "the program called the error handler itself"));
}

int raise_bad_comm(const char* name, MPI_Comm handle) {
  if (handle == MPI_COMM_NULL)
    return raise(
        name, nullptr,
        fail(MPI_ERR_COMM, "the communicator is MPI_COMM_NULL: freed, or this rank is not a member of it"));
  if (handle == MPI_COMM_WORLD || handle == MPI_COMM_SELF)
    return raise(
        name, nullptr,
        fail(MPI_ERR_COMM,
             "{} exists only between MPI_Init and MPI_Finalize. With sessions alone, make a "
             "communicator of a process set: MPI_Group_from_session_pset, MPI_Comm_create_from_group",
             handle == MPI_COMM_WORLD ? "MPI_COMM_WORLD" : "MPI_COMM_SELF"));
  return raise(name, nullptr, fail(MPI_ERR_COMM, "{} is no communicator", static_cast<const void*>(handle)));
}

int raise_not_initialized(const char* name) {
  const Rank* rank = calling_rank();
  const Phase phase = rank != nullptr ? rank->phase.load() : Phase::kBeforeInit;
  if (phase == Phase::kBeforeInit) return raise(name, nullptr, fail(MPI_ERR_OTHER, "called before MPI_Init"));
  if (phase == Phase::kFinalized)
    return raise(name, nullptr, fail(MPI_ERR_OTHER, "called after MPI_Finalize"));
  return raise(name, nullptr,
               fail(MPI_ERR_OTHER,
                    "called by a thread that the rank has created, but the program has asked for {}. Call "
                    "MPI_Init_thread with MPI_THREAD_MULTIPLE (or MPI_THREAD_SERIALIZED, if no two threads "
                    "call at the same time)",
                    rank->thread_level == MPI_THREAD_FUNNELED ? "MPI_THREAD_FUNNELED" : "MPI_THREAD_SINGLE"));
}

}  // namespace tmpi::mpi
