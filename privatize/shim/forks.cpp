// Children that run this program on: each has the standard streams of its rank, and is one of the rank's children only.
#include <errno.h>
#include <unistd.h>

#include "privatize/rank_callbacks.h"
#include "privatize/shim/descriptors.hpp"
#include "privatize/shim/host/host_functions.h"
#include "privatize/shim/host/libc_originals.hpp"
#include "privatize/shim/process.hpp"
#include "privatize/shim/shim.h"

namespace tmpi::shim {
namespace {

template <class Fork>
pid_t fork_by(Fork fork) noexcept {
  const bool in_rank = !in_forked_child();
  const pid_t child = fork();
  if (child == 0 && in_rank) {
    become_plain();
    tmpi_close_descriptors_of_others();
    tmpi_hand_down_limits();
  }
  if (child > 0 && in_rank) tmpi_shim_add_child(tmpi_image_rank, child);
  return child;
}

}  // namespace

extern "C" {

pid_t fork() noexcept {
  return fork_by(tmpi_libc.fork);
}
pid_t __fork() noexcept {
  return fork_by(tmpi_libc.fork);
}
pid_t _Fork() noexcept {
  return fork_by(tmpi_libc._Fork);
}

// For vfork.S, in the parent: the child's number, or that of an error.
__attribute__((visibility("hidden"))) pid_t tmpi_shim_vforked(int result) {
  if (result > 0 && !in_forked_child()) tmpi_shim_add_child(tmpi_image_rank, result);
  if (result > 0) return result;
  errno = -result;
  return -1;
}

// Likewise, in the child, which shares all memory with its parent.
__attribute__((visibility("hidden"))) void tmpi_shim_enter_vfork_child() {
  lay_out_standard_streams();
  tmpi_close_descriptors_of_others();
  tmpi_hand_down_limits();
}

}  // extern "C"

}  // namespace tmpi::shim
