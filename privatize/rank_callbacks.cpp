#include "privatize/rank_callbacks.hpp"

#include <cstdlib>

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
  registered.exited(rank, code);
  std::abort();  // it does not return
}

EXPORTED void tmpi_rank_aborted(int rank, const char* why) {
  registered.aborted(rank, why);
  std::abort();  // likewise
}

EXPORTED ssize_t tmpi_rank_write(int rank, int stream, const void* data, size_t length) {
  return registered.write(rank, stream, data, length);
}

EXPORTED ssize_t tmpi_rank_read(int rank, void* data, size_t length) {
  return registered.read(rank, data, length);
}

}  // extern "C"
