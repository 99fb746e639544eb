// Err: what every internal function of the MPI library returns: an MPI error class, MPI_SUCCESS (0) if all
// went well. The sentence that explains a failure is kept by the current rank (cold path), and the API layer
// prints it with call and rank.
#pragma once

#include <fmt/core.h>

#include <string>

#include "mpi.h"

namespace tmpi::mpi {

class [[nodiscard]] Err {
 public:
  constexpr Err() noexcept = default;  // success
  constexpr explicit Err(int error_class) noexcept : class_(error_class) {}
  constexpr explicit operator bool() const noexcept {
    return class_ != MPI_SUCCESS;
  }  ///< true: something failed
  constexpr int error_class() const noexcept { return class_; }

 private:
  int class_ = MPI_SUCCESS;
};

inline constexpr Err kOk{};

namespace detail {
/// Where the calling flow's explanation lies; null: with the thread. Set by Job::create().
extern std::string* (*g_explanation)() noexcept;
}  // namespace detail

/// Remembers `text` as the explanation of the current rank's latest error. Cold.
void explain(std::string text) noexcept;
/// The same for a text that is to be formatted; without memory for it there is none. Cold.
void explain_formatted(fmt::string_view format, fmt::format_args arguments) noexcept;
/// The latest explanation of the current rank (empty if none); cleared by the call.
std::string take_explanation() noexcept;

/// Fails with an MPI error class and a sentence: what happened, the likely cause, what to do. Cold.
template <class... Args>
[[gnu::cold, gnu::noinline]] Err fail(int error_class, fmt::format_string<Args...> format, Args&&... args) {
  explain_formatted(format, fmt::make_format_args(args...));
  return Err(error_class);
}

}  // namespace tmpi::mpi

/// Returns from the calling function if `expression` failed.
#define TMPI_TRY(expression)                                       \
  do {                                                             \
    if (::tmpi::mpi::Err tmpi_err = (expression)) return tmpi_err; \
  } while (0)
