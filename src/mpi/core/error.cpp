#include "mpi/core/error.hpp"

#include "mpi/core/rank.hpp"

namespace tmpi::mpi {
namespace {

// Errors outside a rank (a program that calls MPI before MPI_Init and was started by itself).
std::string outside;

std::string& slot() {
  sched::Task* task = sched::current();
  return task != nullptr ? static_cast<Rank*>(task->owner)->explanation : outside;
}

}  // namespace

void explain(std::string text) {
  slot() = std::move(text);
}

std::string take_explanation() {
  return std::exchange(slot(), {});
}

}  // namespace tmpi::mpi
