#include "mpi/rma/word.hpp"

#include "mpi/op/accepts.hpp"
#include "mpi/rma/combiner.hpp"

namespace tmpi::mpi {

bool combine_word_by_loop(const Window& window, MPI_Op handle, const void* origin, void* result,
                          MPI_Datatype type, int rank, MPI_Aint disp) noexcept {
  const Scalar scalar = scalar_from(type);
  if (scalar.size == 0 || origin == nullptr) return false;
  const Op* const op = op_from(handle);
  if (op == nullptr || !op->predefined() || !accepts(*op, *datatype_from(type))) return false;
  const Address there = detail::word_at(window, rank, disp, scalar.size);
  if (there == 0) return false;
  Combiner(op->which, *datatype_from(type), alone(window, rank)).apply(there, origin, result, 1);
  return true;
}

}  // namespace tmpi::mpi
