// How the job ends when the library itself cannot go on (base/no_memory.hpp): through the callbacks of the
// program that hosts it.
#pragma once

#include <fmt/core.h>

namespace tmpi::mpi {

struct Rank;

/// Once, when the job has been created.
void register_endings() noexcept;

/// Ends the job with a sentence, as callbacks().abort_job does. Without memory for all of it, its beginning is
/// said. Cold.
void end_job_formatted(Rank& rank, int code, fmt::string_view format, fmt::format_args arguments);
template <class... Args>
[[gnu::cold]] void end_job(Rank& rank, int code, fmt::format_string<Args...> format, const Args&... args) {
  end_job_formatted(rank, code, format, fmt::make_format_args(args...));
}

}  // namespace tmpi::mpi
