// Hints of windows. MPI report, 12.2.1. Of those that could only make things faster under promises of the program, tmpi
// needs none: it keeps the values and hands them out again.
#include <algorithm>
#include <string_view>

#include "mpi/rma/create.hpp"

namespace tmpi::mpi {
namespace {

bool is_boolean(std::string_view value) {
  return value == "true" || value == "false";
}
bool is_operations(std::string_view value) {
  return value == "same_op" || value == "same_op_no_op";
}
bool is_number(std::string_view value) {
  return !value.empty() && value.size() < 10 && value.find_first_not_of("0123456789") == value.npos;
}
// A list of orders between reads and writes, or none.
bool is_ordering(std::string_view value) {
  if (value == "none") return true;
  while (!value.empty()) {
    const std::string_view order = value.substr(0, value.find(','));
    if (order != "rar" && order != "raw" && order != "war" && order != "waw") return false;
    value.remove_prefix(std::min(value.size(), order.size() + 1));
  }
  return true;
}

struct Hint {
  const char* key;
  const char* otherwise;
  bool (*valid)(std::string_view value);
  bool later;  ///< may be changed when the window exists
};
constexpr Hint kHints[] = {
    {"no_locks", "false", is_boolean, true},
    {"accumulate_ordering", "rar,raw,war,waw", is_ordering, true},
    {"accumulate_ops", "same_op_no_op", is_operations, true},
    {"mpi_accumulate_granularity", "0", is_number, true},
    {"same_size", "false", is_boolean, true},
    {"same_disp_unit", "false", is_boolean, true},
    {"alloc_shared_noncontig", "false", is_boolean, false},
};

}  // namespace

void set_hints(Window& window, const Info& hints) {
  const bool first = window.hints.empty();
  if (first) {
    for (const Hint& hint : kHints) window.hints.emplace_back(hint.key, hint.otherwise);
  }
  for (std::size_t i = 0; i < std::size(kHints); ++i) {
    const std::string* const value = hints.find(kHints[i].key);
    if (value != nullptr && kHints[i].valid(*value) && (first || kHints[i].later))
      window.hints[i].second = *value;
  }
  window.no_locks = window.hints[0].second == "true";
}

}  // namespace tmpi::mpi
