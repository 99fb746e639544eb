// Events and their sources. MPI report, 15.3.8. There are no hints: info arguments are checked, and what is used of them,
// nothing, is what the functions that ask for it return.
#include "mpi/api/tool_calls.hpp"
#include "mpi/rank/info.hpp"
#include "timers/clock.hpp"

namespace tmpi::mpi {
namespace {

using tool::EventRecord;
using tool::EventType;
using tool::Registration;

// Runs body(registration, events).
template <class Body>
int on_registration(MPI_T_event_registration handle, Body&& body) {
  return on_tool([&](Rank& rank) -> int {
    tool::Events* const events = rank.figures.events.load(std::memory_order_acquire);
    Registration* const found = events != nullptr ? events->find(handle) : nullptr;
    return found == nullptr ? MPI_T_ERR_INVALID_HANDLE : body(*found, *events);
  });
}

// Runs body(record, type) in a callback.
template <class Body>
int on_event(MPI_T_event_instance instance, Body&& body) {
  return on_tool([&](Rank& rank) -> int {
    const tool::Events* const events = rank.figures.events.load(std::memory_order_acquire);
    const EventRecord* const record = events != nullptr ? events->current(instance) : nullptr;
    if (instance == nullptr || record == nullptr) return MPI_T_ERR_INVALID_HANDLE;
    return body(*record, tool::event_types()[static_cast<std::size_t>(record->kind)]);
  });
}

bool is_info(MPI_Info info) {
  return info == MPI_INFO_NULL || info_from(info) != nullptr;
}

int give_no_hints(MPI_Info* info) {
  if (info == nullptr) return MPI_T_ERR_INVALID;
  *info = handle_of(*new Info);
  return MPI_SUCCESS;
}

void give_elements(const EventType& type, MPI_Datatype types[], MPI_Aint displacements[], int* number) {
  if (number == nullptr) return;
  const auto room = static_cast<std::size_t>(std::max(*number, 0));
  for (std::size_t i = 0; i < std::min(room, type.elements.size()); ++i) {
    if (types != nullptr) types[i] = type.elements[i].type;
    if (displacements != nullptr) displacements[i] = type.elements[i].displacement;
  }
  *number = static_cast<int>(type.elements.size());
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int PMPI_T_source_get_num(int* num_sources) {
  return on_tool([&](Rank&) -> int {
    if (num_sources == nullptr) return MPI_T_ERR_INVALID;
    *num_sources = static_cast<int>(tool::event_sources().size());
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_source_get_num);

int PMPI_T_source_get_info(int source_index, char* name, int* name_len, char* desc, int* desc_len,
                           MPI_T_source_order* ordering, MPI_Count* ticks_per_second, MPI_Count* max_ticks,
                           MPI_Info* info) {
  return on_tool([&](Rank&) -> int {
    if (!is_index(source_index, tool::event_sources().size())) return MPI_T_ERR_INVALID_INDEX;
    const tool::EventSource& source = tool::event_sources()[static_cast<std::size_t>(source_index)];
    give_text(source.name, name, name_len);
    give_text(source.description, desc, desc_len);
    give(ordering, MPI_T_SOURCE_ORDERED);
    give(ticks_per_second, static_cast<MPI_Count>(tmpi::timers::ticks(1.0)));
    give(max_ticks, static_cast<MPI_Count>(INT64_MAX));
    return info != nullptr ? give_no_hints(info) : MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_source_get_info);

int PMPI_T_source_get_timestamp(int source_index, MPI_Count* timestamp) {
  return on_tool([&](Rank&) -> int {
    if (!is_index(source_index, tool::event_sources().size())) return MPI_T_ERR_INVALID_INDEX;
    if (timestamp == nullptr) return MPI_T_ERR_INVALID;
    *timestamp = static_cast<MPI_Count>(tmpi::timers::now_ticks());
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_source_get_timestamp);

int PMPI_T_event_get_num(int* num_events) {
  return on_tool([&](Rank&) -> int {
    if (num_events == nullptr) return MPI_T_ERR_INVALID;
    *num_events = tool::kEventKinds;
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_event_get_num);

int PMPI_T_event_get_info(int event_index, char* name, int* name_len, int* verbosity,
                          MPI_Datatype array_of_datatypes[], MPI_Aint array_of_displacements[],
                          int* num_elements, MPI_T_enum* enumtype, MPI_Info* info, char* desc, int* desc_len,
                          int* bind) {
  return on_tool([&](Rank&) -> int {
    if (!is_index(event_index, tool::kEventKinds)) return MPI_T_ERR_INVALID_INDEX;
    const EventType& type = tool::event_types()[static_cast<std::size_t>(event_index)];
    give_text(type.name, name, name_len);
    give_text(type.description, desc, desc_len);
    give(verbosity, type.verbosity);
    give_elements(type, array_of_datatypes, array_of_displacements, num_elements);
    give(enumtype, tool::handle_of(&type.enumeration()));
    give(bind, +MPI_T_BIND_NO_OBJECT);
    return info != nullptr ? give_no_hints(info) : MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_event_get_info);

int PMPI_T_event_get_index(const char* name, int* event_index) {
  return on_tool([&](Rank&) -> int {
    if (name == nullptr || event_index == nullptr) return MPI_T_ERR_INVALID;
    const int found = tool::find_event_type(name);
    if (found < 0) return MPI_T_ERR_INVALID_NAME;
    *event_index = found;
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_event_get_index);

int PMPI_T_event_handle_alloc(int event_index, void*, MPI_Info info,
                              MPI_T_event_registration* event_registration) {
  return on_tool([&](Rank& rank) -> int {
    if (!is_index(event_index, tool::kEventKinds)) return MPI_T_ERR_INVALID_INDEX;
    if (event_registration == nullptr || !is_info(info)) return MPI_T_ERR_INVALID;
    *event_registration =
        handle_of(tool::events_of(rank).allocate(static_cast<tool::EventKind>(event_index)));
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_event_handle_alloc);

int PMPI_T_event_handle_free(MPI_T_event_registration event_registration, void* user_data,
                             MPI_T_event_free_cb_function free_cb_function) {
  return on_registration(event_registration, [&](Registration& registration, tool::Events& events) -> int {
    events.free(registration, free_cb_function, user_data);
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_event_handle_free);

int PMPI_T_event_handle_set_info(MPI_T_event_registration event_registration, MPI_Info info) {
  return on_registration(event_registration, [&](Registration&, tool::Events&) -> int {
    return is_info(info) ? MPI_SUCCESS : MPI_T_ERR_INVALID;
  });
}
TMPI_PROFILED(MPI_T_event_handle_set_info);

int PMPI_T_event_handle_get_info(MPI_T_event_registration event_registration, MPI_Info* info_used) {
  return on_registration(event_registration,
                         [&](Registration&, tool::Events&) { return give_no_hints(info_used); });
}
TMPI_PROFILED(MPI_T_event_handle_get_info);

int PMPI_T_event_register_callback(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety,
                                   MPI_Info info, void* user_data,
                                   MPI_T_event_cb_function event_cb_function) {
  return on_registration(event_registration, [&](Registration& registration, tool::Events& events) -> int {
    const int safety = tool::safety_from(cb_safety);
    if (safety < 0 || !is_info(info)) return MPI_T_ERR_INVALID;
    events.set_callback(registration, static_cast<tool::Safety>(safety), {event_cb_function, user_data});
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_event_register_callback);

int PMPI_T_event_callback_set_info(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety,
                                   MPI_Info info) {
  return on_registration(event_registration, [&](Registration&, tool::Events&) -> int {
    return tool::safety_from(cb_safety) >= 0 && is_info(info) ? MPI_SUCCESS : MPI_T_ERR_INVALID;
  });
}
TMPI_PROFILED(MPI_T_event_callback_set_info);

int PMPI_T_event_callback_get_info(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety,
                                   MPI_Info* info_used) {
  return on_registration(event_registration, [&](Registration&, tool::Events&) -> int {
    return tool::safety_from(cb_safety) >= 0 ? give_no_hints(info_used) : MPI_T_ERR_INVALID;
  });
}
TMPI_PROFILED(MPI_T_event_callback_get_info);

int PMPI_T_event_set_dropped_handler(MPI_T_event_registration event_registration,
                                     MPI_T_event_dropped_cb_function dropped_cb_function) {
  return on_registration(event_registration, [&](Registration& registration, tool::Events&) -> int {
    registration.on_dropped = dropped_cb_function;
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_event_set_dropped_handler);

int PMPI_T_event_read(MPI_T_event_instance event_instance, int element_index, void* buffer) {
  return on_event(event_instance, [&](const EventRecord& record, const EventType& type) -> int {
    if (!is_index(element_index, type.elements.size())) return MPI_T_ERR_INVALID_INDEX;
    if (buffer == nullptr) return MPI_T_ERR_INVALID;
    const tool::EventElement& element = type.elements[static_cast<std::size_t>(element_index)];
    std::memcpy(buffer, record.data.data() + element.displacement, static_cast<std::size_t>(element.size));
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_event_read);

int PMPI_T_event_copy(MPI_T_event_instance event_instance, void* buffer) {
  return on_event(event_instance, [&](const EventRecord& record, const EventType& type) -> int {
    if (buffer == nullptr) return MPI_T_ERR_INVALID;
    // Not the padding behind the last element, for which a tool need not have room.
    const tool::EventElement& last = type.elements.back();
    std::memcpy(buffer, record.data.data(), static_cast<std::size_t>(last.displacement + last.size));
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_event_copy);

int PMPI_T_event_get_timestamp(MPI_T_event_instance event_instance, MPI_Count* event_timestamp) {
  return on_event(event_instance, [&](const EventRecord& record, const EventType&) -> int {
    if (event_timestamp == nullptr) return MPI_T_ERR_INVALID;
    *event_timestamp = static_cast<MPI_Count>(record.ticks);
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_event_get_timestamp);

int PMPI_T_event_get_source(MPI_T_event_instance event_instance, int* source_index) {
  return on_event(event_instance, [&](const EventRecord&, const EventType& type) -> int {
    if (source_index == nullptr) return MPI_T_ERR_INVALID;
    *source_index = type.source;
    return MPI_SUCCESS;
  });
}
TMPI_PROFILED(MPI_T_event_get_source);
