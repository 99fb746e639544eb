// std::terminate and its handlers: the rank's, which the node process keeps because libstdc++ calls them
// without knowing of ranks.
#include <exception>

#include "privatize/shim/host/host_functions.h"
#include "privatize/shim/shim.h"

namespace std {

terminate_handler set_terminate(terminate_handler handler) noexcept {
  return tmpi_shim_set_terminate(tmpi_image_rank, handler);
}

terminate_handler get_terminate() noexcept {
  return tmpi_shim_get_terminate(tmpi_image_rank);
}

}  // namespace std
