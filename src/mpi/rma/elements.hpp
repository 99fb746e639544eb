// Elements: the elements of a layout one by one, for accumulates. A basic element's first byte is where its first run
// begins. Nothing suspends but combine_elements().
#pragma once

#include "mpi/datatype/cursor.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/rma/combiner.hpp"
#include "mpi/rma/row.hpp"

namespace tmpi::mpi {

/// `count` elements of a type, at an address. No type: none.
struct Elements {
  Address address = 0;
  MPI_Count count = 0;
  const Datatype* type = nullptr;
};

/// The basic elements of `node` in type-map order; each has `size` bytes of data. The node outlives it.
class ElementWalk {
 public:
  ElementWalk(const Node& node, Address base, MPI_Count size) noexcept : cursor_(node, base), size_(size) {}
  Address address() const noexcept { return cursor_.address(); }
  /// How many, this one included, lie one after the other without a hole; elements that have none themselves.
  MPI_Count run() const noexcept { return cursor_.length() / size_; }
  /// Not beyond the end.
  void next(MPI_Count elements = 1) noexcept {
    for (MPI_Count left = elements * size_; left > 0;) {
      const MPI_Count step = left < cursor_.length() ? left : cursor_.length();
      cursor_.skip_bytes(step);
      left -= step;
    }
  }

 private:
  Cursor cursor_;
  const MPI_Count size_;
};

/// True if the basic elements of (type, count) stand one extent of `basic` apart.
inline bool evenly_spaced(const Datatype& type, const Datatype& basic) noexcept {
  return type.predefined() || (type.contiguous() && basic.contiguous());
}

/// The first `elements` basic elements of the target become target op origin; the result gets what was there. Origin
/// and result may have no type. Piece by piece, as `row` has it: SUSPENDS.
void combine_elements(const Combiner& combiner, Row& row, const Elements& target, const Elements& origin,
                      const Elements& result, MPI_Count elements);

/// The same for the basic elements [first, first + elements) of the layout `target` at `base`; origin and result, which
/// may be null, one extent of the basic type apart.
void combine_layout(const Combiner& combiner, const Node& target, Address base, MPI_Count first,
                    const void* origin, void* result, MPI_Count elements);

}  // namespace tmpi::mpi
