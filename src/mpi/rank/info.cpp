#include "mpi/rank/info.hpp"

#include <algorithm>

#include "base/platform.hpp"
#include "mpi/base/handles.hpp"
#include "mpi/rank/callbacks.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/rank/threads.hpp"

namespace tmpi::mpi {
namespace {

// The calling rank's MPI_INFO_ENV, made when it is first asked for.
Info& environment() {
  static Info outside;  // never written
  Rank* rank = calling_rank();
  if (rank == nullptr) return outside;
  if (rank->start_info == nullptr) rank->start_info = std::make_unique<Info>(start_entries(*rank));
  return *rank->start_info;
}

const char* thread_level_name(int level) {
  switch (level) {
    case MPI_THREAD_SINGLE:
      return "MPI_THREAD_SINGLE";
    case MPI_THREAD_FUNNELED:
      return "MPI_THREAD_FUNNELED";
    case MPI_THREAD_SERIALIZED:
      return "MPI_THREAD_SERIALIZED";
    default:
      return "MPI_THREAD_MULTIPLE";
  }
}

}  // namespace

Info* info_from(MPI_Info handle) noexcept {
  if (handle == MPI_INFO_ENV) return &environment();
  if (is_predefined(handle)) return nullptr;
  Info* info = reinterpret_cast<Info*>(handle);
  return reinterpret_cast<std::uintptr_t>(handle) % alignof(Info) == 0 && info->alive() ? info : nullptr;
}

Err hints_from(MPI_Info handle, const Info*& hints) {
  static const Info none;
  hints = handle == MPI_INFO_NULL ? &none : info_from(handle);
  if (hints != nullptr) return kOk;
  return fail(MPI_ERR_INFO,
              "the info argument is no info object: never created, or freed (pass "
              "MPI_INFO_NULL for no hints)");
}

std::vector<Info::Entry> start_entries(const Rank& rank) {
  std::vector<Info::Entry> entries;
  if (callbacks().start_info != nullptr) entries = callbacks().start_info(rank).entries;
  for (auto& [key, value] : entries) value.resize(std::min<std::size_t>(value.size(), MPI_MAX_INFO_VAL - 1));
  entries.emplace_back("host", job()->host());
  entries.emplace_back("arch", kArchitecture);
  if (rank.phase == Phase::kInitialized)
    entries.emplace_back("thread_level", thread_level_name(rank.thread_level));
  return entries;
}

}  // namespace tmpi::mpi
