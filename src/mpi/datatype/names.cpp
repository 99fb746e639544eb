#include "mpi/datatype/names.hpp"

#include <map>
#include <mutex>
#include <utility>

namespace tmpi::mpi {

namespace {

// Hardly ever used: one table for all ranks. The lock is held for a look-up only, never across a scheduling
// point.
std::mutex mutex;
std::map<std::pair<const void*, MPI_Datatype>, std::string> renamed;

}  // namespace

std::string name_of(const Datatype& type, const void* rank) {
  if (type.predefined()) {
    const std::lock_guard lock(mutex);
    const auto entry = renamed.find({rank, type.handle()});
    if (entry != renamed.end()) return entry->second;
  }
  return type.name();
}

void rename(Datatype& type, const void* rank, std::string name) {
  if (!type.predefined()) return type.set_name(std::move(name));
  const std::lock_guard lock(mutex);
  renamed[{rank, type.handle()}] = std::move(name);
}

}  // namespace tmpi::mpi
