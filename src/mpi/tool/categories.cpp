#include "mpi/tool/categories.hpp"

#include "mpi/tool/controls.hpp"
#include "mpi/tool/event_types.hpp"
#include "mpi/tool/variables.hpp"

namespace tmpi::mpi::tool {
namespace {

// In the order of enum Category.
constexpr CategoryRow kCategories[] = {
    {"tmpi", "Everything that tmpi tells tools."},
    {"tmpi_options", "The options of tmpirun, as the job was started with them."},
    {"tmpi_limits", "What the job consists of, and sizes from which on something is done in another way."},
    {"tmpi_algorithms", "Which algorithm carries out a collective on a communicator."},
    {"tmpi_messages",
     "Messages of the rank, those inside collectives included, and the ways that they take."},
    {"tmpi_queues", "What waits at the rank: messages without receives, receives without messages."},
    {"tmpi_time", "Where the time of the rank goes."},
    {"tmpi_cores", "What the cores of the node process do; one element for each worker."},
    {"tmpi_memory", "Stacks."},
    {"tmpi_network", "What the node process has sent to others, by protocol; all zero in a job of one."},
};

template <class Table>
std::vector<int> members(const Table& table, Category category) {
  std::vector<int> indices;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i].category == category) indices.push_back(static_cast<int>(i));
  }
  return indices;
}

}  // namespace

std::span<const CategoryRow> categories() noexcept {
  return kCategories;
}

std::vector<int> controls_in(Category category) {
  return members(controls(), category);
}
std::vector<int> variables_in(Category category) {
  return members(variables(), category);
}
std::vector<int> events_in(Category category) {
  return members(event_types(), category);
}

std::vector<int> categories_in(Category category) {
  std::vector<int> indices;
  for (std::size_t i = 1; category == Category::kAll && i < std::size(kCategories); ++i)
    indices.push_back(static_cast<int>(i));
  return indices;
}

}  // namespace tmpi::mpi::tool
