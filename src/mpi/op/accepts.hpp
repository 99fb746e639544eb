// Which operators are accepted on which types, for who cannot have an error's sentence made: check_op() (op.hpp) says
// why not.
#pragma once

#include "mpi/op/op.hpp"

namespace tmpi::mpi {

/// check_op() succeeds.
bool accepts(const Op& op, const Datatype& type) noexcept;

}  // namespace tmpi::mpi
