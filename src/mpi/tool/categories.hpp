// Categories: what variables and events are sorted by (MPI report, 15.3.9). One level below the first, which contains all
// others. The same for all ranks; none is added while a job runs.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace tmpi::mpi::tool {

enum class Category : unsigned char {
  kAll,
  kOptions,
  kLimits,
  kAlgorithms,
  kMessages,
  kQueues,
  kTime,
  kCores,
  kMemory,
  kNetwork,
};

struct CategoryRow {
  const char* name;
  const char* description;
};
/// In the order of the enumeration.
std::span<const CategoryRow> categories() noexcept;

/// Indices of what belongs to a category, in ascending order.
std::vector<int> controls_in(Category category);
std::vector<int> variables_in(Category category);
std::vector<int> events_in(Category category);
std::vector<int> categories_in(Category category);

}  // namespace tmpi::mpi::tool
