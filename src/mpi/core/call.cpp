#include "mpi/core/call.hpp"

#include <cstdio>
#include <cstdlib>

#include "mpi/core/errhandler.hpp"
#include "mpi/core/error_classes.hpp"
#include "mpi/core/services.hpp"

namespace tmpi::mpi {
namespace {

std::string describe(const Rank& rank, const char* name, Err error) {
  const ErrorClass* known = error_class(error.error_class());
  std::string text = fmt::format("rank {} on {}: {} failed: {} ({})", rank.world_rank, job()->host(), name,
                                 known != nullptr ? known->name : "error",
                                 known != nullptr ? known->text : "added by the program");
  std::string why = take_explanation();
  if (!why.empty()) text += ": " + why;
  return text;
}

// Errors without a communicator belong to MPI_COMM_SELF (MPI-4); programs written for MPI-3 set the handler
// of MPI_COMM_WORLD only.
Comm& comm_in_charge(Rank& rank) {
  return rank.self.errhandler != nullptr ? rank.self : rank.world;
}

}  // namespace

int raise(const char* name, Comm* comm, Err error) {
  sched::Task* task = sched::current();
  if (task == nullptr) {  // a program started by itself, before MPI_Init
    std::fprintf(stderr, "tmpi: %s failed before MPI_Init: %s\n", name, take_explanation().c_str());
    std::exit(EXIT_FAILURE);
  }
  Rank& rank = *static_cast<Rank*>(task->owner);
  if (comm == nullptr) comm = &comm_in_charge(rank);
  Errhandler* handler = comm->errhandler;
  if (rank.phase == Phase::kInitialized && handler != nullptr) {
    if (handler->predefined == MPI_ERRORS_RETURN) return error.error_class();
    if (handler->function != nullptr) {
      int code = error.error_class();
      MPI_Comm handle = comm->handle;
      handler->function(&handle, &code);
      return error.error_class();
    }
  }
  services().abort_job(rank, error.error_class(), describe(rank, name, error));
  return error.error_class();
}

int raise_bad_comm(const char* name, MPI_Comm handle) {
  return raise(
      name, nullptr,
      handle == MPI_COMM_NULL
          ? fail(MPI_ERR_COMM, "the communicator is MPI_COMM_NULL: freed, or this rank is not a member of it")
          : fail(MPI_ERR_COMM, "{} is no communicator", static_cast<const void*>(handle)));
}

int raise_not_initialized(const char* name) {
  sched::Task* task = sched::current();
  const bool finalized = task != nullptr && static_cast<Rank*>(task->owner)->phase == Phase::kFinalized;
  return raise(
      name, nullptr,
      finalized
          ? fail(MPI_ERR_OTHER, "called after MPI_Finalize")
          : fail(MPI_ERR_OTHER,
                 "called before MPI_Init, or by a thread that MPI does not know (MPI_THREAD_MULTIPLE is "
                 "not provided)"));
}

}  // namespace tmpi::mpi
