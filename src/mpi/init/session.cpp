#include "mpi/init/session.hpp"

#include <string>

#include "mpi/base/handles.hpp"

namespace tmpi::mpi {
namespace {

struct Level {
  int value;
  const char* name;
};
constexpr Level kLevels[] = {{MPI_THREAD_SINGLE, "MPI_THREAD_SINGLE"},
                             {MPI_THREAD_FUNNELED, "MPI_THREAD_FUNNELED"},
                             {MPI_THREAD_SERIALIZED, "MPI_THREAD_SERIALIZED"},
                             {MPI_THREAD_MULTIPLE, "MPI_THREAD_MULTIPLE"}};

}  // namespace

Session* session_from(MPI_Session handle) noexcept {
  if (is_predefined(handle)) return nullptr;
  auto* session = reinterpret_cast<Session*>(handle);
  return session->magic == Session::kMagic ? session : nullptr;
}

Err requested_thread_level(const Info& hints, int otherwise, int& level) {
  level = otherwise;
  const std::string* wanted = hints.find("thread_level");
  if (wanted == nullptr) return kOk;
  for (const Level& each : kLevels) {
    if (*wanted != each.name) continue;
    level = each.value;
    return kOk;
  }
  return fail(
      MPI_ERR_INFO_VALUE,
      "the info key thread_level is \"{}\": it must be one of MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, "
      "MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE",
      *wanted);
}

std::vector<Info::Entry> hints_in_use(const Session& session) {
  std::vector<Info::Entry> hints = {{"mpi_memory_alloc_kinds", "mpi,system"}};
  for (const Level& each : kLevels) {
    if (each.value == session.thread_level) hints.emplace_back("thread_level", each.name);
  }
  return hints;
}

}  // namespace tmpi::mpi
