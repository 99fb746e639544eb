#include "launch/node/rank_callbacks.hpp"

#include <fmt/core.h>
#include <signal.h>

#include "launch/control/control.hpp"
#include "launch/node/node_job.hpp"
#include "privatize/rank_callbacks.hpp"

namespace tmpi::launch {
namespace {

void exited(int rank, int code) {
  NodeJob::instance()->rank_exited(rank, code);
}

void aborted(int rank, const char* why) {
  Control::instance()->end_job(EndKind::kAborted, rank, 128 + SIGABRT,
                               fmt::format("rank {} on host {}: {}", rank, mpi::job()->host(), why));
}

ssize_t write(int rank, int stream, const void* data, std::size_t length) {
  return Control::instance()->write_output(rank, stream, data, length);
}

ssize_t read(int rank, void* data, std::size_t length) {
  return Control::instance()->input().read(rank, data, length);
}

}  // namespace

void register_rank_callbacks() noexcept {
  privatize::register_rank_callbacks({.exited = exited, .aborted = aborted, .write = write, .read = read});
}

}  // namespace tmpi::launch
