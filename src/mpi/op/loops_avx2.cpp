// The same loops compiled with -mavx2 (see sources.cmake), twice as wide as the baseline's SSE2.
#include "mpi/op/loops.inc"

namespace tmpi::mpi {

const constinit LoopTable kLoopsAvx2 = make_loops();

}  // namespace tmpi::mpi
