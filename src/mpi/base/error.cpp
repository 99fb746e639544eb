#include "mpi/base/error.hpp"

#include <exception>
#include <utility>

namespace tmpi::mpi {
namespace {

// Errors of threads that are no worker: a rank's own, or any before MPI_Init in a program started by itself.
thread_local std::string of_thread;

std::string& slot() noexcept {
  std::string* of_rank = detail::g_explanation != nullptr ? detail::g_explanation() : nullptr;
  return of_rank != nullptr ? *of_rank : of_thread;
}

}  // namespace

std::string* (*detail::g_explanation)() noexcept = nullptr;

void explain(std::string text) noexcept {
  slot() = std::move(text);
}

void explain_formatted(fmt::string_view format, fmt::format_args arguments) noexcept {
  try {
    explain(fmt::vformat(format, arguments));
  } catch (const std::exception&) {
    explain({});  // the code and the class say enough
  }
}

std::string take_explanation() noexcept {
  return std::exchange(slot(), {});
}

}  // namespace tmpi::mpi
