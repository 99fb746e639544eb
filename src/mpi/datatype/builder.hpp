// DatatypeBuilder: fills in a new Datatype: bounds, sizes and the normal form from blocks of older types (MPI
// report, 5.1.6: the formulas of lower bound, upper bound, extent and alignment). The only code that writes a
// Datatype's fields.
#pragma once

#include <vector>

#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/description.hpp"
#include "mpi/datatype/layout.hpp"

namespace tmpi::mpi {

/// `length` elements of `type`, its extent apart, at `displacement` bytes.
struct Block {
  MPI_Count length;
  MPI_Count displacement;
  const Datatype* type;
};

struct DatatypeBuilder {
  /// `count` blocks of `length` elements of `old`, `stride` bytes apart. The new type has one reference.
  static Err strided(Description description, MPI_Count count, MPI_Count length, MPI_Count stride,
                     const Datatype& old, Datatype*& out);
  /// Any blocks, in this order.
  static Err blocks(Description description, const std::vector<Block>& blocks, Datatype*& out);
  /// `old` with other bounds.
  static Err resized(Description description, const Datatype& old, MPI_Count lb, MPI_Count extent,
                     Datatype*& out);
  /// A copy, committed if `old` is.
  static Err duplicate(Description description, const Datatype& old, Datatype*& out);

  struct Predefined {
    const char* name;
    MPI_Datatype handle;
    Kind kind;
    KindGroup group;
    MPI_Count alignment;
    std::vector<std::pair<MPI_Count, MPI_Count>> elements;  ///< offset, size of each basic element
  };
  static Datatype* predefined(const Predefined& row);
  /// An unnamed predefined type: represented like `like`, and its handle is its address. Never freed.
  static Datatype* unnamed(Description description, const Datatype& like);

 private:
  static Datatype* create(Description description);
  template <class B>
  static void finish(Datatype& type, const B& bounds, std::shared_ptr<const Layout> layout);
};

}  // namespace tmpi::mpi
