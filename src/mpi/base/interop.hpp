// Interop: what a rank keeps for other languages: integers for its handles, and how a Fortran compiler writes
// LOGICAL values. MPI report, 19.3.4, 21.3.3 and 21.4.1. Any thread of the rank; nothing suspends.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "mpi.h"
#include "mpi/base/error.hpp"

namespace tmpi::mpi {

/// Predefined handles are their own small integers. Any other handle gets the next one when it is first asked
/// for and keeps it for good: memory that is used again for another object leads to the same integer and back
/// again, so nothing is to be done when objects are freed, and the table is as long as there were addresses.
class HandleTable {
 public:
  int to_int(void* handle);
  /// Those that have got an integer, in order.
  std::vector<void*> in_order() const;
  /// Null if no handle has this integer.
  void* from_int(int number) const;

 private:
  struct Entries {
    std::vector<void*> handles;              // of kPredefinedHandles, kPredefinedHandles + 1, ...
    std::unordered_map<void*, int> numbers;  // the inverse
  };
  mutable std::mutex mutex_;          // to_int allocates
  std::unique_ptr<Entries> entries_;  // null: none has been asked for yet, as in most ranks
};

struct Interop {
  HandleTable handles;

  /// The representations of .TRUE. and .FALSE.; size 0: not set.
  static constexpr std::size_t kLargestLogical = 16;
  using Logical = std::array<std::byte, kLargestLogical>;
  int logical_size = 0;
  Logical logical_true{}, logical_false{};
};

}  // namespace tmpi::mpi
