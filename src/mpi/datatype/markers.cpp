#include "mpi/datatype/markers.hpp"

#include <algorithm>
#include <vector>

#include "mpi/base/check.hpp"
#include "mpi/datatype/construct.hpp"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace tmpi::mpi {
namespace {

// The members with data, and the bounds that the markers set.
template <class I>
struct Members {
  std::vector<I> lengths;
  std::vector<MPI_Aint> displacements;
  std::vector<MPI_Datatype> types;
  std::vector<MPI_Aint> lower, upper;
};

bool is_marker(MPI_Datatype type) {
  return type == MPI_LB || type == MPI_UB;
}

template <class I>
Members<I> sort_members(I count, const I* lengths, const MPI_Aint* displacements, const MPI_Datatype* types) {
  Members<I> members;
  for (I i = 0; i < count; ++i) {
    if (is_marker(types[i])) {
      (types[i] == MPI_LB ? members.lower : members.upper).push_back(displacements[i]);
      continue;
    }
    members.lengths.push_back(lengths[i]);
    members.displacements.push_back(displacements[i]);
    members.types.push_back(types[i]);
  }
  return members;
}

template <class I>
Err apply_markers(const Members<I>& members, Datatype*& type) {
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

}  // namespace

const char* marker_name(MPI_Datatype handle) noexcept {
  return handle == MPI_LB ? "MPI_LB" : handle == MPI_UB ? "MPI_UB" : nullptr;
}

template <class I>
bool has_markers(I count, const MPI_Datatype* types) {
  return types != nullptr && count > 0 && std::any_of(types, types + count, is_marker);
}

template <class I>
Err construct_marked_struct(I count, const I* lengths, const MPI_Aint* displacements,
                            const MPI_Datatype* types, Datatype*& out) {
  TMPI_TRY(check_pointer(lengths, "array_of_blocklengths"));
  TMPI_TRY(check_pointer(displacements, "array_of_displacements"));
  const Members<I> members = sort_members(count, lengths, displacements, types);
  TMPI_TRY(construct_struct(static_cast<I>(members.types.size()), members.lengths.data(),
                            members.displacements.data(), members.types.data(), out));
  return apply_markers(members, out);
}

#define INSTANTIATE(I)                                        \
  template bool has_markers<I>(I, const MPI_Datatype* types); \
  template Err construct_marked_struct<I>(I, const I*, const MPI_Aint*, const MPI_Datatype*, Datatype*&);

INSTANTIATE(int)
INSTANTIATE(MPI_Count)
#undef INSTANTIATE

}  // namespace tmpi::mpi
