#include "mpi/base/error.hpp"

namespace tmpi::mpi {
namespace {

// Errors of threads that are no worker: a rank's own, or any before MPI_Init in a program started by itself.
thread_local std::string of_thread;

std::string& slot() {
  std::string* of_rank = detail::g_explanation != nullptr ? detail::g_explanation() : nullptr;
  return of_rank != nullptr ? *of_rank : of_thread;
}

}  // namespace

std::string* (*detail::g_explanation)() noexcept = nullptr;

void explain(std::string text) {
  slot() = std::move(text);
}

std::string take_explanation() {
  return std::exchange(slot(), {});
}

}  // namespace tmpi::mpi
