// Asynchronous input and output, and what tells a rank of it (shim/host/notices.hpp). Who waits for the end of requests
// lets others of the worker run (--sleep). Bound to code in images only.
#include <aio.h>
#include <errno.h>
#include <mqueue.h>
#include <signal.h>
#include <unistd.h>

#include "privatize/loader.hpp"
#include "privatize/offload.hpp"
#include "privatize/rank_pid.hpp"
#include "privatize/runtime_functions.hpp"
#include "privatize/shim/host/notices.hpp"
#include "privatize/thread_context.hpp"

namespace tmpi::privatize {
namespace {

/// The rank that is to be told; -1: a child of one, a process like any other.
int own_rank() noexcept {
  return getpid() == node_process() ? thread_context().rank : -1;
}

bool claim(sigevent& event) noexcept {
  const int rank = own_rank();
  return rank < 0 || shim::claim_notice(rank, event);
}

bool any_is_done(const aiocb* const* requests, int count) noexcept {
  for (int i = 0; i < count; ++i) {
    if (requests[i] != nullptr && ::aio_error(requests[i]) != EINPROGRESS) return true;
  }
  return false;
}

}  // namespace

extern "C" {

int tmpi_aio_read(aiocb* request) {
  return claim(request->aio_sigevent) ? ::aio_read(request) : -1;
}
int tmpi_aio_write(aiocb* request) {
  return claim(request->aio_sigevent) ? ::aio_write(request) : -1;
}
int tmpi_aio_fsync(int operation, aiocb* request) {
  return claim(request->aio_sigevent) ? ::aio_fsync(operation, request) : -1;
}

int tmpi_lio_listio(int mode, aiocb* const* requests, int count, sigevent* event) {
  for (int i = 0; i < count; ++i) {
    if (requests[i] != nullptr && !claim(requests[i]->aio_sigevent)) return -1;
  }
  sigevent ours{};
  if (event != nullptr) ours = *event;
  if (event != nullptr && !claim(ours)) return -1;
  const auto call = [&] { return ::lio_listio(mode, requests, count, event != nullptr ? &ours : nullptr); };
  return mode == LIO_WAIT && may_offload() ? static_cast<int>(offload("lio_listio", false, call)) : call();
}

int tmpi_aio_suspend(const aiocb* const* requests, int count, const timespec* time) {
  const auto call = [=] { return ::aio_suspend(requests, count, time); };
  if (!may_offload() || any_is_done(requests, count)) return call();
  return static_cast<int>(offload("aio_suspend", false, call));
}

int tmpi_mq_notify(mqd_t queue, const sigevent* event) {
  if (event == nullptr) return ::mq_notify(queue, nullptr);
  sigevent ours = *event;
  return claim(ours) ? ::mq_notify(queue, &ours) : -1;
}

}  // extern "C"

}  // namespace tmpi::privatize
