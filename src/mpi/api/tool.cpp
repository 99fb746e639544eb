// The tools interface: start and end, enumerations, categories. MPI report, 15.3.
#include <algorithm>
#include <mutex>

#include "mpi/api/tool_calls.hpp"
#include "mpi/base/handles.hpp"
#include "mpi/init/lifetime.hpp"
#include "mpi/rank/forked.hpp"
#include "mpi/tool/categories.hpp"
#include "mpi/tool/enumeration.hpp"

namespace tmpi::mpi {
namespace {

// Two threads of a rank may come first at the same time.
std::mutex initializing;

// `provided`: threads of the rank are let in at any time only if its own flow of control asks for it, or if they are let
// in to MPI; without that those that call at the same time race, as they may in MPI.
int initialize_tools(int required, int& provided) {
  if (in_forked_child()) return MPI_T_ERR_CANNOT_INIT;
  if (calling_rank() == nullptr && start_singleton()) return MPI_T_ERR_CANNOT_INIT;
  Rank* const rank = calling_rank();
  if (rank == nullptr) return MPI_T_ERR_CANNOT_INIT;
  if (required >= MPI_THREAD_SERIALIZED && is_main_flow()) admit_tools(*rank);
  provided = rank->tools_in_threads || rank->thread_level >= MPI_THREAD_SERIALIZED ? MPI_THREAD_MULTIPLE
                                                                                   : MPI_THREAD_FUNNELED;
  const std::scoped_lock lock(initializing);
  tool::State* state = rank->tools.load(std::memory_order_relaxed);
  if (state == nullptr) {
    state = new tool::State;
    rank->tools.store(state, std::memory_order_release);
  }
  const std::scoped_lock state_lock(state->lock());
  state->initialize();
  return MPI_SUCCESS;
}

// The first `length` of them.
int give_indices(const std::vector<int>& indices, int length, int out[]) {
  if (length < 0 || (length > 0 && out == nullptr)) return MPI_T_ERR_INVALID;
  std::copy_n(indices.begin(), std::min(indices.size(), static_cast<std::size_t>(length)), out);
  return MPI_SUCCESS;
}

// Runs body(category) for a category's index.
template <class Body>
int on_category(int index, Body&& body) {
  return on_tool([&](Rank&) -> int {
    if (!is_index(index, tool::categories().size())) return MPI_T_ERR_INVALID_INDEX;
    return body(static_cast<tool::Category>(index));
  });
}

int size_of(const std::vector<int>& indices) {
  return static_cast<int>(indices.size());
}

}  // namespace

Comm* bound_comm(Rank& rank, void* object) noexcept {
  if (object == nullptr || rank.phase != Phase::kInitialized) return nullptr;
  return comm_from(rank, *static_cast<MPI_Comm*>(object));
}

}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int PMPI_T_init_thread(int required, int* provided) {
  try {
    int level = MPI_THREAD_SINGLE;
    const int error = initialize_tools(required, level);
    if (error == MPI_SUCCESS) give(provided, level);
    return error;
  } catch (const std::exception&) {
    return MPI_T_ERR_MEMORY;
  }
}
TMPI_PROFILED(MPI_T_init_thread);

int PMPI_T_finalize(void) {
  return on_tool_state([](tool::State& state, Rank& rank) -> int {
    state.finalize();
    tool::Events* const events = rank.figures.events.load(std::memory_order_acquire);
    if (events != nullptr && !state.initialized()) events->free_all();
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_finalize);

int PMPI_T_enum_get_info(MPI_T_enum enumtype, int* num, char* name, int* name_len) {
  return on_tool([&](Rank&) -> int {
    const tool::Enumeration* const enumeration = tool::enumeration_from(enumtype);
    if (enumeration == nullptr) return MPI_T_ERR_INVALID_HANDLE;
    give(num, static_cast<int>(enumeration->items.size()));
    give_text(enumeration->name, name, name_len);
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_enum_get_info);

int PMPI_T_enum_get_item(MPI_T_enum enumtype, int indx, int* value, char* name, int* name_len) {
  return on_tool([&](Rank&) -> int {
    const tool::Enumeration* const enumeration = tool::enumeration_from(enumtype);
    if (enumeration == nullptr) return MPI_T_ERR_INVALID_HANDLE;
    if (!is_index(indx, enumeration->items.size())) return MPI_T_ERR_INVALID_INDEX;
    const auto& [number, text] = enumeration->items[static_cast<std::size_t>(indx)];
    give(value, number);
    give_text(text, name, name_len);
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_enum_get_item);

int PMPI_T_category_get_num(int* num_cat) {
  return on_tool([&](Rank&) -> int {
    if (num_cat == nullptr) return MPI_T_ERR_INVALID;
    *num_cat = static_cast<int>(tool::categories().size());
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_category_get_num);

int PMPI_T_category_get_info(int cat_index, char* name, int* name_len, char* desc, int* desc_len,
                             int* num_cvars, int* num_pvars, int* num_categories) {
  return on_category(cat_index, [&](tool::Category category) -> int {
    const tool::CategoryRow& row = tool::categories()[static_cast<std::size_t>(cat_index)];
    give_text(row.name, name, name_len);
    give_text(row.description, desc, desc_len);
    give(num_cvars, size_of(tool::controls_in(category)));
    give(num_pvars, size_of(tool::variables_in(category)));
    give(num_categories, size_of(tool::categories_in(category)));
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_category_get_info);

int PMPI_T_category_get_num_events(int cat_index, int* num_events) {
  return on_category(cat_index, [&](tool::Category category) -> int {
    if (num_events == nullptr) return MPI_T_ERR_INVALID;
    *num_events = size_of(tool::events_in(category));
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_category_get_num_events);

int PMPI_T_category_get_index(const char* name, int* cat_index) {
  return on_tool([&](Rank&) -> int {
    if (name == nullptr || cat_index == nullptr) return MPI_T_ERR_INVALID;
    const auto all = tool::categories();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (std::strcmp(all[i].name, name) != 0) continue;
      *cat_index = static_cast<int>(i);
      return MPI_SUCCESS;
    }
    return MPI_T_ERR_INVALID_NAME;
  });
}
TMPI_PROFILED(MPI_T_category_get_index);

int PMPI_T_category_get_cvars(int cat_index, int len, int indices[]) {
  return on_category(cat_index, [&](tool::Category category) {
    return give_indices(tool::controls_in(category), len, indices);
  });
}
TMPI_PROFILED(MPI_T_category_get_cvars);

int PMPI_T_category_get_pvars(int cat_index, int len, int indices[]) {
  return on_category(cat_index, [&](tool::Category category) {
    return give_indices(tool::variables_in(category), len, indices);
  });
}
TMPI_PROFILED(MPI_T_category_get_pvars);

int PMPI_T_category_get_events(int cat_index, int len, int indices[]) {
  return on_category(cat_index, [&](tool::Category category) {
    return give_indices(tool::events_in(category), len, indices);
  });
}
TMPI_PROFILED(MPI_T_category_get_events);

int PMPI_T_category_get_categories(int cat_index, int len, int indices[]) {
  return on_category(cat_index, [&](tool::Category category) {
    return give_indices(tool::categories_in(category), len, indices);
  });
}
TMPI_PROFILED(MPI_T_category_get_categories);

int PMPI_T_category_changed(int* update_number) {
  return on_tool([&](Rank&) -> int {
    if (update_number == nullptr) return MPI_T_ERR_INVALID;
    *update_number = 1;  // all tables are complete before a rank runs
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_category_changed);
