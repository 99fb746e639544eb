#include "privatize/rank_callbacks.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "privatize/loader.hpp"
#include "privatize/rank_callbacks.h"

// Images bind to these names in tmpi-node.
#define EXPORTED __attribute__((visibility("default")))

namespace {

tmpi::privatize::RankCallbacks registered{};

}  // namespace

void tmpi::privatize::register_rank_callbacks(const RankCallbacks& callbacks) noexcept {
  registered = callbacks;
}

extern "C" {

EXPORTED void tmpi_rank_exited(int rank, int code) {
  if (tmpi::privatize::in_forked_child()) _exit(code);
  registered.exited(rank, code);
  std::abort();  // it does not return
}

EXPORTED void tmpi_rank_aborted(int rank, const char* why) {
  if (tmpi::privatize::in_forked_child()) {
    std::fprintf(stderr, "tmpi: a child of rank %d %s\n", rank, why);
    std::abort();
  }
  registered.aborted(rank, why);
  std::abort();  // likewise
}

EXPORTED ssize_t tmpi_rank_write(int rank, int stream, const void* data, size_t length) {
  if (tmpi::privatize::in_forked_child()) return write(stream, data, length);
  return registered.write(rank, stream, data, length);
}

EXPORTED ssize_t tmpi_rank_read(int rank, void* data, size_t length) {
  if (tmpi::privatize::in_forked_child()) return read(STDIN_FILENO, data, length);
  return registered.read(rank, data, length);
}

}  // extern "C"
