// The loops of the predefined operators, one per operator and kind. The table exists once per instruction
// set; the one the processor can run is chosen once. All give the same bits: no fused multiply-add, no
// reordering.
#pragma once

#include "mpi.h"
#include "mpi/datatype/kind.hpp"
#include "mpi/op/op.hpp"

namespace tmpi::mpi {

/// inout[i] = in[i] op inout[i]; the arrays do not overlap.
using ReduceLoop = void (*)(const void* in, void* inout, MPI_Count count);

struct LoopTable {
  ReduceLoop loops[kOperators][kKinds];  ///< null where the operator has no arithmetic on the kind
};

extern const LoopTable kLoopsBaseline;
#if TMPI_LOOPS_AVX2
extern const LoopTable kLoopsAvx2;
#endif

/// The table for this processor.
const LoopTable& loop_table() noexcept;

}  // namespace tmpi::mpi
