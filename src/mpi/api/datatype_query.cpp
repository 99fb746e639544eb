// The older large-count queries (names with _x), names of datatypes, addresses. MPI report, 5.1.5 to 5.1.11,
// 7.8.
#include <cstring>
#include <string>

#include "mpi/api/datatype_calls.hpp"
#include "mpi/api/profiled.hpp"
#include "mpi/datatype/markers.hpp"
#include "mpi/datatype/names.hpp"

using namespace tmpi::mpi;

int PMPI_Type_size_x(MPI_Datatype datatype, MPI_Count* size) {
  return type_size("MPI_Type_size_x", datatype, size);
}
TMPI_PROFILED(MPI_Type_size_x);

int PMPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent) {
  return type_extent("MPI_Type_get_extent_x", datatype, lb, extent);
}
TMPI_PROFILED(MPI_Type_get_extent_x);

int PMPI_Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count* true_lb, MPI_Count* true_extent) {
  return type_true_extent("MPI_Type_get_true_extent_x", datatype, true_lb, true_extent);
}
TMPI_PROFILED(MPI_Type_get_true_extent_x);

int PMPI_Get_elements_x(const MPI_Status* status, MPI_Datatype datatype, MPI_Count* count) {
  return count_of("MPI_Get_elements_x", status, datatype, count, element_count);
}
TMPI_PROFILED(MPI_Get_elements_x);

int PMPI_Status_set_elements_x(MPI_Status* status, MPI_Datatype datatype, MPI_Count count) {
  return set_elements("MPI_Status_set_elements_x", status, datatype, count);
}
TMPI_PROFILED(MPI_Status_set_elements_x);

int PMPI_Type_get_name(MPI_Datatype datatype, char* type_name, int* resultlen) {
  return on_rank("MPI_Type_get_name", [&](Rank& rank) -> Err {
    const Datatype* type = datatype_from(datatype);
    // MPI_DATATYPE_NULL has a name too (MPI report, 7.8), and so have the markers of old, which are no types.
    const char* other = datatype == MPI_DATATYPE_NULL ? "MPI_DATATYPE_NULL" : marker_name(datatype);
    if (type == nullptr && other == nullptr) return bad_type(datatype);
    TMPI_TRY(check_pointer(type_name, "type_name"));
    TMPI_TRY(check_pointer(resultlen, "resultlen"));
    const std::string name = type == nullptr ? other : name_of(*type, &rank);
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
