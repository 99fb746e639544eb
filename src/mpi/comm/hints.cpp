#include "mpi/comm/hints.hpp"

#include <algorithm>
#include <string>

namespace tmpi::mpi {
namespace {

constexpr const char* kEndsSteps = "mpix_balance_step";

// All boolean.
struct Hint {
  const char* key;
  const char* otherwise;
};
constexpr Hint kHints[] = {{"mpi_assert_no_any_tag", "false"},
                           {"mpi_assert_no_any_source", "false"},
                           {"mpi_assert_exact_length", "false"},
                           {"mpi_assert_allow_overtaking", "false"},
                           {"mpi_assert_strict_persistent_collective_ordering", "false"},
                           {kEndsSteps, "true"}};

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
  for (const Hint& hint : kHints) {
    const std::string* value = info.find(hint.key);
    if (value != nullptr && (*value == "true" || *value == "false")) set(comm, hint.key, *value);
  }
}

std::vector<Info::Entry> hints_in_use(const Comm& comm) {
  std::vector<Info::Entry> hints;
  for (const Hint& hint : kHints) {
    const auto found = find(comm, hint.key);
    hints.emplace_back(hint.key, found != comm.hints.end() ? found->second : hint.otherwise);
  }
  return hints;
}

bool ends_steps(const Comm& comm) noexcept {
  for (const auto& [key, value] : comm.hints) {
    if (key == kEndsSteps) return value == "true";
  }
  return true;
}

}  // namespace tmpi::mpi
