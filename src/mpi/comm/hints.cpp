#include "mpi/comm/hints.hpp"

#include <algorithm>
#include <string>

namespace tmpi::mpi {
namespace {

// Assertions: all boolean, all false by default.
constexpr const char* kAssertions[] = {"mpi_assert_no_any_tag", "mpi_assert_no_any_source",
                                       "mpi_assert_exact_length", "mpi_assert_allow_overtaking",
                                       "mpi_assert_strict_persistent_collective_ordering"};

auto find(const Comm& comm, const std::string& key) {
  return std::find_if(comm.hints.begin(), comm.hints.end(),
                      [&](const Info::Entry& hint) { return hint.first == key; });
}

void set(Comm& comm, const std::string& key, const std::string& value) {
  const auto old = find(comm, key);
  if (old != comm.hints.end()) comm.hints.erase(old);
  comm.hints.emplace_back(key, value);
}

}  // namespace

void set_hints(Comm& comm, const Info& info) {
  for (const char* key : kAssertions) {
    const std::string* value = info.find(key);
    if (value != nullptr && (*value == "true" || *value == "false")) set(comm, key, *value);
  }
}

std::vector<Info::Entry> hints_in_use(const Comm& comm) {
  std::vector<Info::Entry> hints;
  for (const char* key : kAssertions) {
    const auto found = find(comm, key);
    hints.emplace_back(key, found != comm.hints.end() ? found->second : "false");
  }
  return hints;
}

}  // namespace tmpi::mpi
