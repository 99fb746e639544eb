#include "privatize/masked_wait.hpp"

#include <errno.h>
#include <time.h>

#include <algorithm>

#include "privatize/live_threads.hpp"
#include "privatize/loader.hpp"
#include "privatize/offload.hpp"
#include "privatize/rank_signals.hpp"
#include "privatize/runtime_functions.hpp"
#include "privatize/shim/host/host_functions.h"
#include "privatize/sleep_hooks.hpp"

namespace tmpi::privatize {
namespace {

constexpr std::uint64_t kFirstRest = 20'000, kLongestRest = 1'000'000;  // ns

std::uint64_t now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace

MaskedWait::MaskedWait(const sigset_t& mask, std::uint64_t nanoseconds, const char* call) noexcept
    : rank_(running_rank()),
      call_(call),
      delivered_(signals_delivered(rank_)),
      end_(nanoseconds == kNoDeadline ? kNoDeadline : now() + nanoseconds),
      rest_(kFirstRest) {
  tmpi_shim_sigmask(rank_, SIG_SETMASK, &mask, &before_);
}

MaskedWait::~MaskedWait() {
  const int error = own_errno();
  tmpi_shim_sigmask(rank_, SIG_SETMASK, &before_, nullptr);
  set_own_errno(error);
}

bool MaskedWait::again() noexcept {
  const std::uint64_t time = end_ == kNoDeadline ? 0 : now();
  if (signals_delivered(rank_) != delivered_ || time >= end_) return false;
  const std::uint64_t rest = std::min(rest_, end_ - time);
  if (!may_offload()) {
    const timespec alone{0, static_cast<long>(rest)};
    ::nanosleep(&alone, nullptr);
  } else if (!give_way()) {
    rest_rank(rest, call_);
  }
  rest_ = std::min(rest_ * 2, kLongestRest);
  return true;
}

int MaskedWait::result(int ready) const noexcept {
  if (ready != 0 || signals_delivered(rank_) == delivered_) return ready;
  set_own_errno(EINTR);
  return -1;
}

extern "C" int tmpi_sigsuspend(const sigset_t* mask) {
  const int rank = running_rank();
  if (rank < 0 || in_forked_child() || !on_own_flow(rank)) return ::sigsuspend(mask);
  MaskedWait wait(*mask, kNoDeadline, "sigsuspend");
  while (wait.again()) continue;
  return wait.result(0);
}

}  // namespace tmpi::privatize
