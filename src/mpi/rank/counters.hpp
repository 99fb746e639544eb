// The performance counters that a rank has opened (MPIX_Counter_open): its handles, and what it has counted.
// Belongs to one rank and is used by the thread that runs it.
#pragma once

#include <memory>
#include <vector>

#include "mpi/base/error.hpp"
#include "mpix.h"
#include "timers/counter_bank.hpp"

/// What a handle points to.
struct MPIX_Counter_object {
  int event;           ///< timers::find_event()
  std::uint64_t base;  ///< what the rank had counted when it was opened
};

namespace tmpi::mpi {

struct Rank;

class Counters final : public timers::CounterTotals {
 public:
  /// The rank's, made on first use. Calls on a rank are made by the rank itself, while it runs.
  static Counters& of(Rank& rank);
  /// It has opened some and not closed them.
  static bool any(Rank& rank) noexcept;
  /// Closes everything: the rank leaves MPI. Nothing to do for a rank that has opened nothing.
  static void close_all(Rank& rank) noexcept;

  /// MPI_ERR_ARG, MPI_ERR_UNSUPPORTED_OPERATION.
  Err open(Rank& rank, const char* name, MPIX_Counter& handle);
  /// MPI_ERR_ARG if this rank has no such counter, MPI_ERR_OTHER if there is a gap in its count.
  Err read_process(MPIX_Counter handle, MPI_Count& value);
  Err read_core(Rank& rank, MPIX_Counter handle, MPI_Count& value);
  Err close(Rank& rank, MPIX_Counter handle);

 private:
  Err check(MPIX_Counter handle) const;

  std::vector<std::unique_ptr<MPIX_Counter_object>> handles_;
};

}  // namespace tmpi::mpi
