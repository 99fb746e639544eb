#include "privatize/shim/environment.hpp"
#include "privatize/shim/host/host_functions.h"
#include "privatize/shim/iostreams.hpp"
#include "privatize/shim/process.hpp"
#include "privatize/shim/shim.h"
#include "privatize/shim/streams.hpp"

int tmpi_image_rank = -1;

void tmpi_shim_start(int rank, char** environment) {
  tmpi_image_rank = rank;
  tmpi::shim::remember_process();
  tmpi::shim::start_environment(environment);
  tmpi::shim::start_streams();
  tmpi::shim::start_iostreams();
  tmpi_shim_catch_terminate();
}
