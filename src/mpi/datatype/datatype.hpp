// Datatype: the layout of data in memory, behind one small interface. Immutable once built, reference counted (atomically: two
// ranks may hold the same predefined type), so that a pending operation keeps its type alive after MPI_Type_free.
// MPI report, chapter 5. All sizes are MPI_Count (64 bit). Nothing here suspends a fiber.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include "mpi.h"
#include "mpi/core/error.hpp"

namespace tmpi::mpi {

/// What an element of a type map is, for operators, MPI_Get_elements and external32. One per predefined C/Fortran/C++ kind.
enum class Kind : unsigned char;

class Layout;  // the commit-time normal form (layout.hpp): loops over contiguous runs, adjacent runs merged

class Datatype {
 public:
  MPI_Count size() const noexcept { return size_; }        ///< bytes of data in one element
  MPI_Count lb() const noexcept { return lb_; }
  MPI_Count extent() const noexcept { return extent_; }
  MPI_Count true_lb() const noexcept { return true_lb_; }
  MPI_Count true_extent() const noexcept { return true_extent_; }
  bool committed() const noexcept { return committed_; }
  bool predefined() const noexcept { return handle_ != MPI_DATATYPE_NULL; }
  /// One run of size() bytes at offset 0 and extent() == size(): any count of them is one memcpy.
  bool contiguous() const noexcept { return contiguous_; }

  void retain() const noexcept { if (!predefined()) references_.fetch_add(1, std::memory_order_relaxed); }
  void release() const noexcept;  ///< frees the type with the last reference

 protected:
  friend struct DatatypeBuilder;
  MPI_Count size_ = 0, lb_ = 0, extent_ = 0, true_lb_ = 0, true_extent_ = 0;
  bool committed_ = false;
  bool contiguous_ = false;
  MPI_Datatype handle_ = MPI_DATATYPE_NULL;  ///< the ABI's small constant for predefined types
  mutable std::atomic<int> references_{1};
};

/// The type behind a handle: a table look-up for predefined ones (handle < 4096), the pointer itself otherwise. Null for
/// MPI_DATATYPE_NULL and for handles that are no datatypes as far as that can be seen (unknown small constants, bad magic).
Datatype* datatype_from(MPI_Datatype handle) noexcept;
MPI_Datatype handle_of(const Datatype& type) noexcept;

/// Copies data between two layouts without a pack buffer: at most `capacity` = dcount * dtype.size() bytes, in type-map order.
/// Returns the bytes copied (the smaller of both sides); the caller reports truncation. Source and destination do not overlap.
MPI_Count copy_typed(void* dst, MPI_Count dcount, const Datatype& dtype, const void* src, MPI_Count scount, const Datatype& stype);

/// Copies bytes [offset, offset + length) of the packed stream of (buf, count, type) to or from `packed`; offset allows a message
/// to be packed in segments.
void pack_segment(void* packed, const void* buf, MPI_Count count, const Datatype& type, MPI_Count offset, MPI_Count length);
void unpack_segment(void* buf, MPI_Count count, const Datatype& type, const void* packed, MPI_Count offset, MPI_Count length);

/// Number of basic elements in the first `bytes` bytes of a stream of `type`; MPI_UNDEFINED if they end inside one.
MPI_Count element_count(const Datatype& type, MPI_Count bytes);

}  // namespace tmpi::mpi
