#include "mpi/tool/enumeration.hpp"

#include <algorithm>
#include <deque>
#include <mutex>

namespace tmpi::mpi::tool {
namespace {

std::mutex adding;
std::deque<Enumeration>& all() {
  static std::deque<Enumeration> enumerations;
  return enumerations;
}

}  // namespace

const Enumeration& add_enumeration(std::string name, std::vector<std::pair<int, std::string>> items) {
  const std::scoped_lock lock(adding);
  return all().emplace_back(Enumeration{std::move(name), std::move(items)});
}

const Enumeration* enumeration_from(MPI_T_enum handle) noexcept {
  const std::scoped_lock lock(adding);
  const auto found =
      std::ranges::find_if(all(), [&](const Enumeration& each) { return handle_of(&each) == handle; });
  return found != all().end() ? &*found : nullptr;
}

}  // namespace tmpi::mpi::tool
