// chdir moves the rank alone, and so does umask (privatize/rank_directory.hpp).
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "privatize/shim/host/host_functions.h"
#include "privatize/shim/host/libc_originals.hpp"
#include "privatize/shim/process.hpp"
#include "privatize/shim/shim.h"

namespace tmpi::shim {
namespace {

bool warned;

int move(const char* path, int fd) noexcept {
  const int result = tmpi_shim_chdir(tmpi_image_rank, path, fd);
  if (result <= 0 || warned) return result < 0 ? -1 : 0;
  warned = true;
  fprintf(
      stderr,
      "tmpi: rank %d changed the working directory of all ranks of its node: the system does not let threads "
      "have directories of their own (unshare: %s). Use absolute names where ranks differ.\n",
      tmpi_image_rank, strerror(errno));
  return 0;
}

}  // namespace

extern "C" {

int chdir(const char* path) noexcept {
  return in_forked_child() ? tmpi_libc.chdir(path) : move(path, -1);
}

int fchdir(int fd) noexcept {
  return in_forked_child() ? tmpi_libc.fchdir(fd) : move(nullptr, fd);
}

mode_t umask(mode_t mask) noexcept {
  return in_forked_child() ? tmpi_libc.umask(mask) : tmpi_shim_umask(tmpi_image_rank, mask);
}

}  // extern "C"

}  // namespace tmpi::shim
