// Access: the memory that an operation reads or writes: exact for data that is one run or equally spaced
// blocks, and otherwise as exact as the layout's runs, of which a copy is not made. Value type; no thread
// safety; does not suspend.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "mpi.h"
#include "mpi/datatype/layout.hpp"

namespace tmpi::check {

struct Access {
  std::uint64_t begin = 0;  ///< first byte
  std::uint64_t end = 0;    ///< behind the last one
  bool writes = false;

  // The bytes between: `blocks` of `length`, `stride` apart, from `begin` on; or, if blocks is 0, `count`
  // elements of `layout`, `extent` apart, counted from `base`.
  MPI_Count blocks = 1;
  MPI_Count length = 0;
  MPI_Count stride = 0;
  std::uint64_t base = 0;
  MPI_Count count = 0;
  MPI_Count extent = 0;
  std::shared_ptr<const mpi::Layout> layout;  ///< keeps the shape when the program frees the type
};

/// Nothing if no byte is touched, or the type is none.
std::optional<Access> make_access(const void* buffer, MPI_Count count, MPI_Datatype type, bool writes);

/// True if some byte belongs to both. Layouts with too many runs to look at are taken as disjoint: what is
/// reported is surely wrong.
bool overlap(const Access& a, const Access& b);

}  // namespace tmpi::check
