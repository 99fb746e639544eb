#include <link.h>

#include "privatize/shim/descriptors.hpp"
#include "privatize/shim/environment.hpp"
#include "privatize/shim/process.hpp"
#include "privatize/shim/shim.h"
#include "privatize/shim/streams.hpp"

int tmpi_image_rank = -1;

// The dynamic linker's: from here programs go through the objects of their process. Filled in by the loader
// (link_maps.cpp) of ranks whose code looks at it.
r_debug _r_debug;

// The dynamic linker's: where the stack of main began. Collectors of garbage look from there on.
extern "C" void* __libc_stack_end;
void* __libc_stack_end;

void tmpi_shim_start(int rank, char** environment) {
  tmpi_image_rank = rank;
  __libc_stack_end = environment;
  tmpi::shim::remember_process();
  tmpi::shim::start_environment(environment);
  tmpi::shim::start_streams();
}

void tmpi_shim_go_on() {
  tmpi::shim::remember_process();
}

int tmpi_shim_stream_behind(int fd) {
  return tmpi::shim::stream_behind_copy(fd);
}

const char* tmpi_shim_why_not_saved() {
  return tmpi::shim::why_streams_cannot_be_saved();
}
