// The node process's side of privatize/rank_services.h: what the code inside a rank's image asks for.
#pragma GCC visibility push(default)  // images bind to these names in tmpi-node
#include "privatize/rank_services.h"
#pragma GCC visibility pop

#include <fmt/core.h>
#include <signal.h>

#include "launch/control/control.hpp"
#include "launch/node/node_job.hpp"

using tmpi::launch::Control;
using tmpi::launch::EndKind;
using tmpi::launch::NodeJob;

extern "C" {

void tmpi_rank_exited(int rank, int code) {
  NodeJob::instance()->rank_exited(rank, code);
}

void tmpi_rank_aborted(int rank, const char* why) {
  Control::instance()->end_job(EndKind::kAborted, rank, 128 + SIGABRT,
                               fmt::format("rank {} on host {}: {}", rank, tmpi::mpi::job()->host(), why));
}

ssize_t tmpi_rank_write(int rank, int stream, const void* data, size_t length) {
  return Control::instance()->write_output(rank, stream, data, length);
}

ssize_t tmpi_rank_read(int rank, void* data, size_t length) {
  return rank == 0 ? Control::instance()->input().read(data, length) : 0;
}

}  // extern "C"
