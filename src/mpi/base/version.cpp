#include "mpi/base/version.hpp"

#include <fmt/core.h>

#include "mpi.h"

namespace tmpi::mpi {

const std::string& library_version() {
  static const std::string text =
      fmt::format("tmpi {} (virtualized MPI: ranks as fibers; standard ABI {}.{})", TMPI_VERSION,
                  MPI_ABI_VERSION, MPI_ABI_SUBVERSION);
  return text;
}

}  // namespace tmpi::mpi
