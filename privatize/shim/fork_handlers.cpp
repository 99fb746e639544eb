// pthread_atfork of the rank (host/fork_handlers.cpp). What programs are linked with calls this.
#include "privatize/shim/host/host_functions.h"
#include "privatize/shim/shim.h"

extern "C" int __register_atfork(void (*prepare)(), void (*parent)(), void (*child)(), void*) {
  return tmpi_shim_atfork(tmpi_image_rank, prepare, parent, child);
}
