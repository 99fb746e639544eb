// Argument checks of datatypes and of the data of a message (base/check.hpp).
#pragma once

#include "mpi/base/check.hpp"
#include "mpi/datatype/datatype.hpp"

namespace tmpi::mpi {

[[gnu::cold]] Err bad_type(MPI_Datatype handle);
[[gnu::cold]] Err uncommitted_type();

/// A datatype for communication: a type, and committed.
inline Err check_type(MPI_Datatype handle, Datatype*& type) {
  type = datatype_from(handle);
  if (type == nullptr) [[unlikely]]
    return bad_type(handle);
  return type->committed() ? kOk : uncommitted_type();
}

/// Whether `count` elements can be counted: their bytes, and the memory from the first to behind the last. What passes
/// may be multiplied by size() and extent() without a further check.
bool reach_countable(MPI_Count count, const Datatype& type) noexcept;
[[gnu::always_inline]] inline bool countable(MPI_Count count, const Datatype& type) noexcept {
  MPI_Count bytes;
  if (__builtin_mul_overflow(count, type.size(), &bytes)) [[unlikely]]
    return false;
  return type.contiguous() || reach_countable(count, type);
}
[[gnu::cold]] Err uncountable(MPI_Count count, const Datatype& type);

/// Buffer, count and type of one message. A null buffer is right for no data, and with a derived type of
/// absolute addresses (MPI_BOTTOM).
[[gnu::always_inline]] inline Err check_buffer(const void* buffer, MPI_Count count, MPI_Datatype handle,
                                               Datatype*& type) {
  TMPI_TRY(check_count(count));
  TMPI_TRY(check_type(handle, type));
  if (buffer == nullptr && count > 0 && type->size() > 0 && type->predefined()) [[unlikely]]
    return null_buffer(count);
  return countable(count, *type) ? kOk : uncountable(count, *type);
}

}  // namespace tmpi::mpi
