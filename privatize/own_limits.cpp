#include "privatize/own_limits.hpp"

#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <ulimit.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <mutex>
#include <new>

#include "base/no_signals.hpp"
#include "privatize/loader.hpp"
#include "privatize/rank_pid.hpp"
#include "privatize/rank_state.hpp"
#include "privatize/runtime_functions.hpp"
#include "privatize/thread_context.hpp"

namespace tmpi::privatize {

/// What a rank has set. Freed with its state; read without a lock, since a child of vfork does.
struct OwnLimits {
  std::atomic<unsigned> chosen{
      0};  // bits of resources; release by who sets one, acquire: its values are seen
  std::atomic<rlim_t> soft[RLIM_NLIMITS] = {}, hard[RLIM_NLIMITS] = {};
  OwnLimits* next = nullptr;  // under `change`

  rlimit get(int resource) const noexcept {
    return {soft[resource].load(std::memory_order_relaxed), hard[resource].load(std::memory_order_relaxed)};
  }
  void set(int resource, const rlimit& limit) noexcept {
    soft[resource].store(limit.rlim_cur, std::memory_order_relaxed);
    hard[resource].store(limit.rlim_max, std::memory_order_relaxed);
    chosen.fetch_or(1U << resource, std::memory_order_release);
  }
  bool has(int resource) const noexcept {
    return (chosen.load(std::memory_order_acquire) >> resource & 1) != 0;
  }
};

namespace {

std::mutex change;  // with signals blocked: guards what follows, and who sets
OwnLimits* all = nullptr;
int expected = 0;
std::atomic<unsigned> known{0};  // bits of resources; release, acquire: at_start is seen
rlimit at_start[RLIM_NLIMITS];   // of resources that are known: before any rank has set one

rlim_t soft_limit = RLIM_INFINITY, raised_limit = RLIM_INFINITY;

/// The kernel's limit on it can be that of several ranks. Not: the runtime's descriptors and processor time are in the
/// same process; a rank's stack is not the kernel's.
bool holds_for_process(int resource) noexcept {
  return resource != RLIMIT_NOFILE && resource != RLIMIT_STACK && resource != RLIMIT_CPU;
}

__rlimit_resource kernels(int resource) noexcept {
  return static_cast<__rlimit_resource>(resource);
}

bool may_raise_hard_limits() noexcept {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {};
  return syscall(SYS_capget, &header, sets) == 0 && (sets[0].effective >> CAP_SYS_RESOURCE & 1) != 0;
}

/// Under `change`. 0, or -1 with errno.
int limit_process(int resource) noexcept {
  int chosen = 0;
  rlim_t most = 0;
  for (const OwnLimits* one = all; one != nullptr; one = one->next) {
    if (!one->has(resource)) continue;
    ++chosen;
    most = std::max(most, one->get(resource).rlim_cur);
  }
  if (chosen < expected) most = std::max(most, at_start[resource].rlim_cur);
  rlimit limit{};
  if (::getrlimit(kernels(resource), &limit) != 0) return -1;
  limit.rlim_cur = most;
  limit.rlim_max = std::max(limit.rlim_max, most);
  return ::setrlimit(kernels(resource), &limit);
}

/// What the rank's limit is, chosen or not. 0, or -1 with errno.
int get_limit(const RankState& state, int resource, rlimit& limit) noexcept {
  if (const OwnLimits* own = state.limits.load(std::memory_order_acquire);
      own != nullptr && resource >= 0 && resource < RLIM_NLIMITS && own->has(resource)) {
    limit = own->get(resource);
    return 0;
  }
  if (resource >= 0 && resource < RLIM_NLIMITS &&
      (known.load(std::memory_order_acquire) >> resource & 1) != 0) {
    limit = at_start[resource];
  } else if (::getrlimit(kernels(resource), &limit) != 0) {
    return -1;
  }
  if (resource != RLIMIT_STACK || state.stack_bytes == 0) return 0;
  limit.rlim_cur = state.stack_bytes;
  limit.rlim_max = std::max(limit.rlim_max, limit.rlim_cur);
  return 0;
}

/// Under `change`. Null: no memory.
OwnLimits* limits_of(RankState& state) noexcept {
  if (OwnLimits* own = state.limits.load(std::memory_order_relaxed)) return own;
  auto* own = new (std::nothrow) OwnLimits;
  if (own == nullptr) return nullptr;
  own->next = all;
  all = own;
  state.limits.store(own, std::memory_order_release);  // pairs with get_limit() and children
  return own;
}

int fail(int error) noexcept {
  errno = error;
  return -1;
}

int set_limit(RankState& state, int resource, const rlimit& wanted) noexcept {
  if (resource < 0 || resource >= RLIM_NLIMITS || wanted.rlim_cur > wanted.rlim_max) return fail(EINVAL);
  const NoSignals no_signals;
  const std::lock_guard guard(change);
  rlimit before{};
  if (get_limit(state, resource, before) != 0) return -1;
  if (wanted.rlim_max > before.rlim_max && !may_raise_hard_limits()) return fail(EPERM);
  OwnLimits* const own = limits_of(state);
  if (own == nullptr) return fail(ENOMEM);
  if ((known.load(std::memory_order_relaxed) >> resource & 1) == 0) {
    if (::getrlimit(kernels(resource), &at_start[resource]) != 0) return -1;
    known.fetch_or(1U << resource, std::memory_order_release);
  }
  own->set(resource, wanted);
  if (!holds_for_process(resource) || limit_process(resource) == 0) return 0;
  own->set(resource, before);
  return -1;
}

/// Of the rank whose limits the calling flow asks for by a process id; null: the kernel's business.
RankState* whose_limits(pid_t process) noexcept {
  if (thread_context().rank < 0 || getpid() != node_process()) return nullptr;
  if (process == 0 || process == node_process()) return rank_state(thread_context().rank);
  return rank_state(rank_of_pid(process));
}

}  // namespace

void delete_limits(OwnLimits* limits) noexcept {
  if (limits == nullptr) return;
  const NoSignals no_signals;
  const std::lock_guard guard(change);
  for (OwnLimits** link = &all; *link != nullptr; link = &(*link)->next) {
    if (*link != limits) continue;
    *link = limits->next;
    break;
  }
  delete limits;
}

void expect_ranks(int more) noexcept {
  const NoSignals no_signals;
  const std::lock_guard guard(change);
  expected += more;
  if (more <= 0) return;
  // They begin with what the process was started with.
  for (unsigned left = known.load(std::memory_order_relaxed); left != 0; left &= left - 1) {
    if (const int resource = std::countr_zero(left); holds_for_process(resource)) limit_process(resource);
  }
}

void raise_limit_for_ranks_alone(rlim_t soft) noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  soft_limit = soft;
  raised_limit = limit.rlim_cur;
}

void hand_down_limits(pid_t child) noexcept {
  const RankState* const state = rank_state(thread_context().rank);
  const OwnLimits* const own = state == nullptr ? nullptr : state->limits.load(std::memory_order_acquire);
  if (own == nullptr) return;
  const int error = errno;
  for (int resource = 0; resource < RLIM_NLIMITS; ++resource) {
    if (!own->has(resource)) continue;
    const rlimit limit = own->get(resource);
    ::prlimit(child, kernels(resource), &limit, nullptr);
  }
  errno = error;
}

void limit_child(pid_t child) noexcept {
  const int error = errno;
  rlimit limit{};
  if (soft_limit < raised_limit && ::prlimit(child, RLIMIT_NOFILE, nullptr, &limit) == 0 &&
      limit.rlim_cur == raised_limit) {
    limit.rlim_cur = soft_limit;
    ::prlimit(child, RLIMIT_NOFILE, &limit, nullptr);
  }
  errno = error;
}

extern "C" {

int tmpi_prlimit(pid_t process, int resource, const rlimit* wanted, rlimit* before) {
  RankState* const state = whose_limits(process);
  if (state == nullptr) return ::prlimit(kernel_pid(process), kernels(resource), wanted, before);
  rlimit now{};
  if (before != nullptr && get_limit(*state, resource, now) != 0) return -1;
  if (wanted != nullptr && set_limit(*state, resource, *wanted) != 0) return -1;
  if (before != nullptr) *before = now;
  return 0;
}
int tmpi_getrlimit(int resource, rlimit* limit) {
  return tmpi_prlimit(0, resource, nullptr, limit);
}
int tmpi_setrlimit(int resource, const rlimit* limit) {
  return tmpi_prlimit(0, resource, limit, nullptr);
}

// ---- Older names of the same ----

long tmpi_sysconf(int name) {
  const int resource = name == _SC_OPEN_MAX ? RLIMIT_NOFILE : RLIMIT_NPROC;
  rlimit limit{};
  if ((name != _SC_OPEN_MAX && name != _SC_CHILD_MAX) || tmpi_getrlimit(resource, &limit) != 0)
    return ::sysconf(name);
  return limit.rlim_cur == RLIM_INFINITY ? -1 : static_cast<long>(limit.rlim_cur);
}
int tmpi_getdtablesize() {
  rlimit limit{};
  if (tmpi_getrlimit(RLIMIT_NOFILE, &limit) != 0) return ::getdtablesize();
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur, INT_MAX));
}
long tmpi_ulimit(int command, ...) {
  constexpr rlim_t kBlock = 512;
  rlimit limit{};
  if (command == UL_GETFSIZE) {
    if (tmpi_getrlimit(RLIMIT_FSIZE, &limit) != 0) return -1;
    return limit.rlim_cur == RLIM_INFINITY ? LONG_MAX : static_cast<long>(limit.rlim_cur / kBlock);
  }
  if (command == UL_SETFSIZE) {
    va_list rest;
    va_start(rest, command);
    const auto blocks = static_cast<rlim_t>(va_arg(rest, long));
    va_end(rest);
    const bool endless = blocks > RLIM_INFINITY / kBlock;
    limit.rlim_cur = limit.rlim_max = endless ? RLIM_INFINITY : blocks * kBlock;
    if (tmpi_setrlimit(RLIMIT_FSIZE, &limit) != 0) return -1;
    return endless ? LONG_MAX : static_cast<long>(blocks);
  }
  return command == __UL_GETOPENMAX ? tmpi_sysconf(_SC_OPEN_MAX) : ::ulimit(command);
}

}  // extern "C"

}  // namespace tmpi::privatize
