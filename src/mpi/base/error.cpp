#include "mpi/base/error.hpp"

#include "mpi/rank/rank.hpp"

namespace tmpi::mpi {
namespace {

// Errors of threads that are no worker: a rank's own, or any before MPI_Init in a program started by itself.
thread_local std::string of_thread;

std::string& slot() {
  sched::Task* task = sched::current();
  return task != nullptr && !task->is_thread ? static_cast<Rank*>(task->owner)->explanation : of_thread;
}

}  // namespace

void explain(std::string text) {
  slot() = std::move(text);
}

std::string take_explanation() {
  return std::exchange(slot(), {});
}

}  // namespace tmpi::mpi
