#include "mpi/base/placement.hpp"

namespace tmpi::mpi {

const Placement* detail::g_placement = nullptr;

}  // namespace tmpi::mpi
