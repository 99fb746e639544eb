// Functions that MPI 3.0 removed, for old programs: each does what its replacement does. MPI report, 16.1;
// MPI 1.3, 3.12.3 for MPI_LB and MPI_UB.
#include <algorithm>

#include "mpi/api/datatype_calls.hpp"
#include "mpi/api/profiled.hpp"
#include "mpi/datatype/construct.hpp"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // TMPI_PROFILED names them

namespace tmpi::mpi {
namespace {

// What MPI_Type_struct was given: the members with data, and the bounds that the markers set.
struct Members {
  std::vector<int> lengths;
  std::vector<MPI_Aint> displacements;
  std::vector<MPI_Datatype> types;
  std::vector<MPI_Aint> lower, upper;
};

Members sort_members(int count, const int lengths[], const MPI_Aint displacements[],
                     const MPI_Datatype types[]) {
  Members members;
  for (int i = 0; i < count; ++i) {
    if (types[i] == MPI_LB || types[i] == MPI_UB) {
      (types[i] == MPI_LB ? members.lower : members.upper).push_back(displacements[i]);
      continue;
    }
    members.lengths.push_back(lengths[i]);
    members.displacements.push_back(displacements[i]);
    members.types.push_back(types[i]);
  }
  return members;
}

// The lowest MPI_LB and the highest MPI_UB are the bounds, whatever the data. Bounds that a member's type was
// given by markers (or by MPI_Type_create_resized) count as such.
Err apply_markers(const Members& members, Datatype*& type) {
  if (members.lower.empty() && members.upper.empty()) return kOk;
  MPI_Count lb = type->lb(), ub = type->lb() + type->extent();
  const bool sticky = type->explicit_bounds();
  for (std::size_t i = 0; i < members.lower.size(); ++i)
    lb = i == 0 && !sticky ? members.lower[i] : std::min<MPI_Count>(lb, members.lower[i]);
  for (std::size_t i = 0; i < members.upper.size(); ++i)
    ub = i == 0 && !sticky ? members.upper[i] : std::max<MPI_Count>(ub, members.upper[i]);
  Datatype* bare = type;
  Err error = construct_resized(*bare, lb, ub - lb, false, type);
  bare->release();  // the resized type holds it
  return error;
}

// A bound of a type, as `body(const Datatype&)` says.
template <class Body>
int bound(const char* name, MPI_Datatype handle, MPI_Aint* result, const char* argument, Body&& body) {
  return on_type(name, handle, [&](Datatype& type) -> Err {
    TMPI_TRY(check_pointer(result, argument));
    *result = body(type);
    return kOk;
  });
}

}  // namespace
}  // namespace tmpi::mpi

using namespace tmpi::mpi;

int PMPI_Address(void* location, MPI_Aint* address) {
  return PMPI_Get_address(location, address);
}
TMPI_PROFILED(MPI_Address);

int PMPI_Errhandler_create(MPI_Handler_function* function, MPI_Errhandler* errhandler) {
  return PMPI_Comm_create_errhandler(function, errhandler);
}
TMPI_PROFILED(MPI_Errhandler_create);

int PMPI_Errhandler_get(MPI_Comm comm, MPI_Errhandler* errhandler) {
  return PMPI_Comm_get_errhandler(comm, errhandler);
}
TMPI_PROFILED(MPI_Errhandler_get);

int PMPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler) {
  return PMPI_Comm_set_errhandler(comm, errhandler);
}
TMPI_PROFILED(MPI_Errhandler_set);

int PMPI_Type_extent(MPI_Datatype datatype, MPI_Aint* extent) {
  return bound("MPI_Type_extent", datatype, extent, "extent",
               [](const Datatype& type) { return type.extent(); });
}
TMPI_PROFILED(MPI_Type_extent);

int PMPI_Type_lb(MPI_Datatype datatype, MPI_Aint* displacement) {
  return bound("MPI_Type_lb", datatype, displacement, "displacement",
               [](const Datatype& type) { return type.lb(); });
}
TMPI_PROFILED(MPI_Type_lb);

int PMPI_Type_ub(MPI_Datatype datatype, MPI_Aint* displacement) {
  return bound("MPI_Type_ub", datatype, displacement, "displacement",
               [](const Datatype& type) { return type.lb() + type.extent(); });
}
TMPI_PROFILED(MPI_Type_ub);

int PMPI_Type_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
                      MPI_Datatype* newtype) {
  return PMPI_Type_create_hvector(count, blocklength, stride, oldtype, newtype);
}
TMPI_PROFILED(MPI_Type_hvector);

int PMPI_Type_hindexed(int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[],
                       MPI_Datatype oldtype, MPI_Datatype* newtype) {
  return PMPI_Type_create_hindexed(count, array_of_blocklengths, array_of_displacements, oldtype, newtype);
}
TMPI_PROFILED(MPI_Type_hindexed);

int PMPI_Type_struct(int count, const int array_of_blocklengths[], const MPI_Aint array_of_displacements[],
                     const MPI_Datatype array_of_types[], MPI_Datatype* newtype) {
  return on_rank("MPI_Type_struct", [&](Rank&) -> Err {
    TMPI_TRY(check_count(count));
    if (count > 0) TMPI_TRY(check_pointer(array_of_blocklengths, "array_of_blocklengths"));
    if (count > 0) TMPI_TRY(check_pointer(array_of_displacements, "array_of_displacements"));
    if (count > 0) TMPI_TRY(check_pointer(array_of_types, "array_of_types"));
    TMPI_TRY(check_pointer(newtype, "newtype"));
    const Members members =
        sort_members(count, array_of_blocklengths, array_of_displacements, array_of_types);
    Datatype* type = nullptr;
    TMPI_TRY(construct_struct(static_cast<int>(members.types.size()), members.lengths.data(),
                              members.displacements.data(), members.types.data(), type));
    TMPI_TRY(apply_markers(members, type));
    *newtype = type->handle();
    return kOk;
  });
}
TMPI_PROFILED(MPI_Type_struct);
