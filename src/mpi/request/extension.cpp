#include "mpi/request/extension.hpp"

namespace tmpi::mpi {

Err RequestExtension::retire(Request&) {
  return kOk;
}

Err RequestExtension::cancel(Request&) {
  return kOk;
}

}  // namespace tmpi::mpi
