#include "mpi/rank/endings.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "mpi/base/format_into.hpp"
#include "mpi/base/no_memory.hpp"
#include "mpi/rank/callbacks.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/rank/threads.hpp"

namespace tmpi::mpi {
namespace {

void end_without_memory(const char* what) noexcept {
  if (callbacks().out_of_memory != nullptr) callbacks().out_of_memory(what);
}

void end_after_exception(const char* callback, const char* what) noexcept {
  Rank* rank = calling_rank();
  if (rank == nullptr) return;
  end_job(*rank, MPI_ERR_OTHER,
          "rank {} on {}: {}: the program's {} has thrown an exception ({}), which cannot pass through MPI: "
          "catch it there",
          rank->world_rank, job()->host(), rank->call(), callback, what);
}

void end_after_defect(const char* where, const char* what) noexcept {
  Rank* rank = calling_rank();
  if (rank == nullptr) return;
  end_job(*rank, MPI_ERR_INTERN, "rank {} on {}: {}: a defect of tmpi in the middle of {}: {}",
          rank->world_rank, job()->host(), rank->call(), where, what);
}

}  // namespace

void register_endings() noexcept {
  detail::g_endings = {end_without_memory, end_after_exception, end_after_defect};
}

void end_job_formatted(Rank& rank, int code, fmt::string_view format, fmt::format_args arguments) {
  char beginning[512];
  std::string whole;
  std::string_view text;
  try {
    text = whole = fmt::vformat(format, arguments);
  } catch (const std::exception&) {
    text = vformat_into(beginning, sizeof beginning, format, arguments);
  }
  callbacks().abort_job(rank, code, text);
}

}  // namespace tmpi::mpi
