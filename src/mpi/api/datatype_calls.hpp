// The frames of calls with a datatype, and the measures of a datatype that have several forms (plain, _c and
// the older _x): I is the integer type of the results.
#pragma once

#include <type_traits>

#include "mpi/base/status.hpp"
#include "mpi/datatype/check.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/rank/call.hpp"

namespace tmpi::mpi {

/// Runs `body(Datatype&)` for a call with a datatype, committed or not.
template <class Body>
int on_type(const char* name, MPI_Datatype handle, Body&& body) {
  return on_rank(name, [&](Rank&) -> Err {
    Datatype* type = datatype_from(handle);
    return type == nullptr ? bad_type(handle) : body(*type);
  });
}

/// Runs `body(Datatype*&)` with the place for the new type and stores its handle.
template <class Body>
int construct(const char* name, MPI_Datatype* newtype, Body&& body) {
  return on_rank(name, [&](Rank&) -> Err {
    TMPI_TRY(check_pointer(newtype, "newtype"));
    Datatype* type = nullptr;
    TMPI_TRY(body(type));
    *newtype = handle_of(*type);
    return kOk;
  });
}

/// The same for a constructor with one old type: `body(const Datatype& old, Datatype*&)`.
template <class Body>
int construct_from(const char* name, MPI_Datatype oldtype, MPI_Datatype* newtype, Body&& body) {
  return construct(name, newtype, [&](Datatype*& type) -> Err {
    const Datatype* old = datatype_from(oldtype);
    return old == nullptr ? bad_type(oldtype) : body(*old, type);
  });
}

/// A value for an output argument of type I: MPI_UNDEFINED if it does not fit (MPI report, 3.2.5, 5.1.5).
template <class I>
I narrowed(MPI_Count value) noexcept {
  return static_cast<I>(value) == value ? static_cast<I>(value) : static_cast<I>(MPI_UNDEFINED);
}

template <class I>
int type_size(const char* name, MPI_Datatype handle, I* size) {
  return on_type(name, handle, [&](Datatype& type) -> Err {
    TMPI_TRY(check_pointer(size, "size"));
    *size = narrowed<I>(type.size());
    return kOk;
  });
}

/// MPI_Aint and MPI_Count hold any bound, so one form does for all.
inline int type_extent(const char* name, MPI_Datatype handle, MPI_Count* lb, MPI_Count* extent) {
  return on_type(name, handle, [&](Datatype& type) -> Err {
    TMPI_TRY(check_pointer(lb, "lb"));
    TMPI_TRY(check_pointer(extent, "extent"));
    *lb = type.lb();
    *extent = type.extent();
    return kOk;
  });
}

inline int type_true_extent(const char* name, MPI_Datatype handle, MPI_Count* true_lb,
                            MPI_Count* true_extent) {
  return on_type(name, handle, [&](Datatype& type) -> Err {
    TMPI_TRY(check_pointer(true_lb, "true_lb"));
    TMPI_TRY(check_pointer(true_extent, "true_extent"));
    *true_lb = type.true_lb();
    *true_extent = type.true_extent();
    return kOk;
  });
}
static_assert(std::is_same_v<MPI_Aint, MPI_Count>);

/// Complete elements of `type` in `bytes` bytes; MPI_UNDEFINED if they end inside one (MPI report, 3.2.5).
inline MPI_Count whole_count(const Datatype& type, MPI_Count bytes) noexcept {
  if (type.size() == 0) return bytes == 0 ? 0 : MPI_UNDEFINED;
  return bytes % type.size() == 0 ? bytes / type.size() : MPI_UNDEFINED;
}

/// What a status says about the amount received, measured by `measure`.
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

inline int set_elements(const char* name, MPI_Status* status, MPI_Datatype handle, MPI_Count count) {
  return on_type(name, handle, [&](Datatype& type) -> Err {
    TMPI_TRY(check_pointer(status, "status"));
    TMPI_TRY(check_count(count));
    MPI_Count bytes;
    if (type.elements() > 0 && __builtin_mul_overflow(count / type.elements() + 1, type.size(), &bytes))
      return uncountable(count, type);
    set_status_bytes(*status, element_bytes(type, count));
    return kOk;
  });
}

}  // namespace tmpi::mpi
