#include "mpi/op/loops.inc"

namespace tmpi::mpi {

const constinit LoopTable kLoopsBaseline = make_loops();

}  // namespace tmpi::mpi
