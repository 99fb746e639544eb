// Sizes, extents and names of datatypes, counts of received elements, addresses. MPI report, 5.1.5
// to 5.1.11, 5.2.5, 7.8.
#include <climits>
#include <cstring>
#include <string>

#include "mpi/api/profiled.hpp"
#include "mpi/core/call.hpp"
#include "mpi/core/check.hpp"
#include "mpi/core/status.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/names.hpp"

using namespace tmpi::mpi;

namespace {

/// A value for an output argument of type I: MPI_UNDEFINED if it does not fit.
template <class I>
I narrowed(MPI_Count value) {
  if (static_cast<MPI_Count>(static_cast<I>(value)) != value) return static_cast<I>(MPI_UNDEFINED);
  return static_cast<I>(value);
}

/// Runs `body(Datatype&)` for a call with a datatype.
template <class Body>
int on_type(const char* name, MPI_Datatype handle, Body&& body) {
  return on_rank(name, [&](Rank&) -> Err {
    Datatype* type = datatype_from(handle);
    return type == nullptr ? bad_type(handle) : body(*type);
  });
}

template <class I>
int type_size(const char* name, MPI_Datatype handle, I* size) {
  return on_type(name, handle, [&](Datatype& type) -> Err {
    TMPI_TRY(check_pointer(size, "size"));
    *size = narrowed<I>(type.size());
    return kOk;
  });
}

template <class I>
int type_extent(const char* name, MPI_Datatype handle, I* lb, I* extent) {
  return on_type(name, handle, [&](Datatype& type) -> Err {
    TMPI_TRY(check_pointer(lb, "lb"));
    TMPI_TRY(check_pointer(extent, "extent"));
    *lb = type.lb();
    *extent = type.extent();
    return kOk;
  });
}

template <class I>
int type_true_extent(const char* name, MPI_Datatype handle, I* true_lb, I* true_extent) {
  return on_type(name, handle, [&](Datatype& type) -> Err {
    TMPI_TRY(check_pointer(true_lb, "true_lb"));
    TMPI_TRY(check_pointer(true_extent, "true_extent"));
    *true_lb = type.true_lb();
    *true_extent = type.true_extent();
    return kOk;
  });
}

/// Complete elements of `type` in `bytes` bytes; MPI_UNDEFINED if they end inside one (MPI report, 3.2.5).
MPI_Count whole_count(const Datatype& type, MPI_Count bytes) {
  if (type.size() == 0) return bytes == 0 ? 0 : MPI_UNDEFINED;
  return bytes % type.size() == 0 ? bytes / type.size() : MPI_UNDEFINED;
}

template <class I>
int count_of(const char* name, const MPI_Status* status, MPI_Datatype handle, I* count,
             MPI_Count (*measure)(const Datatype&, MPI_Count)) {
  return on_type(name, handle, [&](Datatype& type) -> Err {
    TMPI_TRY(check_pointer(status, "status"));
    TMPI_TRY(check_pointer(count, "count"));
    *count = narrowed<I>(measure(type, status_bytes(*status)));
    return kOk;
  });
}

int set_elements(const char* name, MPI_Status* status, MPI_Datatype handle, MPI_Count count) {
  return on_type(name, handle, [&](Datatype& type) -> Err {
    TMPI_TRY(check_pointer(status, "status"));
    TMPI_TRY(check_count(count));
    set_status_bytes(*status, element_bytes(type, count));
    return kOk;
  });
}

}  // namespace

int PMPI_Type_size(MPI_Datatype datatype, int* size) {
  return type_size("MPI_Type_size", datatype, size);
}
TMPI_PROFILED(MPI_Type_size);
int PMPI_Type_size_c(MPI_Datatype datatype, MPI_Count* size) {
  return type_size("MPI_Type_size_c", datatype, size);
}
TMPI_PROFILED(MPI_Type_size_c);
int PMPI_Type_size_x(MPI_Datatype datatype, MPI_Count* size) {
  return type_size("MPI_Type_size_x", datatype, size);
}
TMPI_PROFILED(MPI_Type_size_x);

int PMPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint* lb, MPI_Aint* extent) {
  return type_extent("MPI_Type_get_extent", datatype, lb, extent);
}
TMPI_PROFILED(MPI_Type_get_extent);
int PMPI_Type_get_extent_c(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent) {
  return type_extent("MPI_Type_get_extent_c", datatype, lb, extent);
}
TMPI_PROFILED(MPI_Type_get_extent_c);
int PMPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent) {
  return type_extent("MPI_Type_get_extent_x", datatype, lb, extent);
}
TMPI_PROFILED(MPI_Type_get_extent_x);

int PMPI_Type_get_true_extent(MPI_Datatype datatype, MPI_Aint* true_lb, MPI_Aint* true_extent) {
  return type_true_extent("MPI_Type_get_true_extent", datatype, true_lb, true_extent);
}
TMPI_PROFILED(MPI_Type_get_true_extent);
int PMPI_Type_get_true_extent_c(MPI_Datatype datatype, MPI_Count* true_lb, MPI_Count* true_extent) {
  return type_true_extent("MPI_Type_get_true_extent_c", datatype, true_lb, true_extent);
}
TMPI_PROFILED(MPI_Type_get_true_extent_c);
int PMPI_Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count* true_lb, MPI_Count* true_extent) {
  return type_true_extent("MPI_Type_get_true_extent_x", datatype, true_lb, true_extent);
}
TMPI_PROFILED(MPI_Type_get_true_extent_x);

int PMPI_Get_count(const MPI_Status* status, MPI_Datatype datatype, int* count) {
  return count_of("MPI_Get_count", status, datatype, count, whole_count);
}
TMPI_PROFILED(MPI_Get_count);
int PMPI_Get_count_c(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  return count_of("MPI_Get_count_c", status, datatype, count, whole_count);
}
TMPI_PROFILED(MPI_Get_count_c);

int PMPI_Get_elements(const MPI_Status* status, MPI_Datatype datatype, int* count) {
  return count_of("MPI_Get_elements", status, datatype, count, element_count);
}
TMPI_PROFILED(MPI_Get_elements);
int PMPI_Get_elements_c(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  return count_of("MPI_Get_elements_c", status, datatype, count, element_count);
}
TMPI_PROFILED(MPI_Get_elements_c);
int PMPI_Get_elements_x(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  return count_of("MPI_Get_elements_x", status, datatype, count, element_count);
}
TMPI_PROFILED(MPI_Get_elements_x);

int PMPI_Status_set_elements(MPI_Status* status, MPI_Datatype datatype, int count) {
  return set_elements("MPI_Status_set_elements", status, datatype, count);
}
TMPI_PROFILED(MPI_Status_set_elements);
int PMPI_Status_set_elements_c(MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
  return set_elements("MPI_Status_set_elements_c", status, datatype, count);
}
TMPI_PROFILED(MPI_Status_set_elements_c);
int PMPI_Status_set_elements_x(MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
  return set_elements("MPI_Status_set_elements_x", status, datatype, count);
}
TMPI_PROFILED(MPI_Status_set_elements_x);

int PMPI_Type_get_name(MPI_Datatype datatype, char* type_name, int* resultlen) {
  return on_rank("MPI_Type_get_name", [&](Rank& rank) -> Err {
    const Datatype* type = datatype_from(datatype);
    // MPI_DATATYPE_NULL has a name too (MPI report, 7.8).
    if (type == nullptr && datatype != MPI_DATATYPE_NULL) return bad_type(datatype);
    TMPI_TRY(check_pointer(type_name, "type_name"));
    TMPI_TRY(check_pointer(resultlen, "resultlen"));
    const std::string name = type == nullptr ? "MPI_DATATYPE_NULL" : name_of(*type, &rank);
    std::memcpy(type_name, name.c_str(), name.size() + 1);
    *resultlen = static_cast<int>(name.size());
    return kOk;
  });
}
TMPI_PROFILED(MPI_Type_get_name);

int PMPI_Type_set_name(MPI_Datatype datatype, const char* type_name) {
  return on_rank("MPI_Type_set_name", [&](Rank& rank) -> Err {
    Datatype* type = datatype_from(datatype);
    if (type == nullptr) return bad_type(datatype);
    TMPI_TRY(check_pointer(type_name, "type_name"));
    rename(*type, &rank, std::string(type_name, strnlen(type_name, MPI_MAX_OBJECT_NAME - 1)));
    return kOk;
  });
}
TMPI_PROFILED(MPI_Type_set_name);

int PMPI_Get_address(const void* location, MPI_Aint* address) {
  return anywhere("MPI_Get_address", [&]() -> Err {
    TMPI_TRY(check_pointer(address, "address"));
    *address = reinterpret_cast<MPI_Aint>(location);
    return kOk;
  });
}
TMPI_PROFILED(MPI_Get_address);

// In unsigned arithmetic: the difference of two addresses may overflow a signed one and still be right after
// the sum.
MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint disp) {
  return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(base) + static_cast<std::uintptr_t>(disp));
}
TMPI_PROFILED(MPI_Aint_add);
MPI_Aint PMPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2) {
  return static_cast<MPI_Aint>(static_cast<std::uintptr_t>(addr1) - static_cast<std::uintptr_t>(addr2));
}
TMPI_PROFILED(MPI_Aint_diff);
