// Functions that take or return ids of processes and threads: a rank's own (rank_pid.hpp) become the kernel's on their
// way in, and the other way round. Bound to code in images only. In a child that a rank has made, by fork or vfork,
// getpid() is the kernel's.
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "privatize/children.hpp"
#include "privatize/descriptor_owners.hpp"
#include "privatize/loader.hpp"
#include "privatize/own_affinity.hpp"
#include "privatize/rank_pid.hpp"
#include "privatize/runtime_functions.hpp"
#include "privatize/shim/host/host_functions.h"
#include "privatize/thread_context.hpp"

namespace tmpi::privatize {
namespace {

bool in_node_process() noexcept {
  return thread_context().rank >= 0 && getpid() == node_process();
}

id_t kernel_id(int which, id_t id) noexcept {
  return which == PRIO_PROCESS ? static_cast<id_t>(kernel_tid(static_cast<pid_t>(id))) : id;
}

/// What a system call made by its number takes as ids: bits of its arguments.
struct IdArguments {
  long call;
  std::uint8_t processes, threads;
};
constexpr IdArguments kIdArguments[] = {
    {SYS_getpgid, 1, 0},
    {SYS_setpgid, 3, 0},
    {SYS_getsid, 1, 0},
    {SYS_sched_setscheduler, 0, 1},
    {SYS_sched_getscheduler, 0, 1},
    {SYS_sched_setparam, 0, 1},
    {SYS_sched_getparam, 0, 1},
    {SYS_sched_setattr, 0, 1},
    {SYS_sched_getattr, 0, 1},
    {SYS_sched_rr_get_interval, 0, 1},
    {SYS_pidfd_open, 1, 0},
    {SYS_process_vm_readv, 1, 0},
    {SYS_process_vm_writev, 1, 0},
    {SYS_move_pages, 1, 0},
    {SYS_migrate_pages, 1, 0},
    {SYS_kcmp, 3, 0},
    {SYS_perf_event_open, 0, 2},
    {SYS_rt_sigqueueinfo, 1, 0},
    {SYS_rt_tgsigqueueinfo, 1, 2},
};

/// System calls that return a descriptor, by which those are made that have no function.
constexpr long kMakingDescriptors[] = {
    SYS_open,       SYS_openat,       SYS_openat2,     SYS_creat,          SYS_socket,
    SYS_dup,        SYS_memfd_create, SYS_eventfd2,    SYS_epoll_create1,  SYS_perf_event_open,
    SYS_pidfd_open, SYS_pidfd_getfd,  SYS_userfaultfd, SYS_io_uring_setup, SYS_timerfd_create,
    SYS_signalfd4,  SYS_inotify_init1};

/// The ids of ranks among the arguments of a system call become the kernel's.
void translate(long call, long (&arguments)[6]) noexcept {
  const auto* const row = std::ranges::find(kIdArguments, call, &IdArguments::call);
  if (row == std::end(kIdArguments)) return;
  for (int i = 0; i < 6; ++i) {
    const auto id = static_cast<pid_t>(arguments[i]);
    if ((row->processes >> i & 1) != 0) arguments[i] = kernel_pid(id);
    if ((row->threads >> i & 1) != 0) arguments[i] = kernel_tid(id);
  }
}

}  // namespace

extern "C" {

pid_t tmpi_getpid() {
  return in_node_process() ? pid_of_rank(thread_context().rank) : ::getpid();
}
pid_t tmpi_gettid() {
  if (thread_context().helper || !in_node_process()) return ::gettid();
  const pid_t own = pid_of_rank(thread_context().rank);
  return own == node_process() ? ::gettid() : own;
}
pid_t tmpi_getppid() {
  const pid_t parent = ::getppid();
  return parent == node_process() && thread_context().rank >= 0 ? pid_of_rank(thread_context().rank) : parent;
}

pid_t tmpi_getpgid(pid_t process) {
  return ::getpgid(kernel_pid(process));
}
int tmpi_setpgid(pid_t process, pid_t group) {
  return ::setpgid(kernel_pid(process), kernel_pid(group));
}
pid_t tmpi_getsid(pid_t process) {
  return ::getsid(kernel_pid(process));
}
int tmpi_getpriority(int which, id_t id) {
  return ::getpriority(static_cast<__priority_which_t>(which), kernel_id(which, id));
}
int tmpi_setpriority(int which, id_t id, int priority) {
  return ::setpriority(static_cast<__priority_which_t>(which), kernel_id(which, id), priority);
}

int tmpi_sched_setscheduler(pid_t thread, int policy, const sched_param* parameters) {
  return ::sched_setscheduler(kernel_tid(thread), policy, parameters);
}
int tmpi_sched_getscheduler(pid_t thread) {
  return ::sched_getscheduler(kernel_tid(thread));
}
int tmpi_sched_setparam(pid_t thread, const sched_param* parameters) {
  return ::sched_setparam(kernel_tid(thread), parameters);
}
int tmpi_sched_getparam(pid_t thread, sched_param* parameters) {
  return ::sched_getparam(kernel_tid(thread), parameters);
}
int tmpi_sched_rr_get_interval(pid_t thread, timespec* interval) {
  return ::sched_rr_get_interval(kernel_tid(thread), interval);
}

int tmpi_pidfd_open(pid_t process, unsigned flags) {
  return static_cast<int>(::syscall(SYS_pidfd_open, kernel_pid(process), flags));
}
ssize_t tmpi_process_vm_readv(pid_t process, const iovec* here, unsigned long count, const iovec* there,
                              unsigned long parts, unsigned long flags) {
  return ::process_vm_readv(kernel_pid(process), here, count, there, parts, flags);
}
ssize_t tmpi_process_vm_writev(pid_t process, const iovec* here, unsigned long count, const iovec* there,
                               unsigned long parts, unsigned long flags) {
  return ::process_vm_writev(kernel_pid(process), here, count, there, parts, flags);
}

int tmpi_tgkill(pid_t process, pid_t thread, int signal) {
  if (world_rank_of_pid(thread) >= 0) return tmpi_shim_kill(thread, signal);
  return ::tgkill(kernel_pid(process), thread, signal);
}

long tmpi_syscall(long call, long a, long b, long c, long d, long e, long f) {
  switch (call) {
    case SYS_getpid:
      return tmpi_getpid();
    case SYS_gettid:
      return tmpi_gettid();
    case SYS_getppid:
      return tmpi_getppid();
    case SYS_kill:
    case SYS_tkill:
      if (world_rank_of_pid(static_cast<pid_t>(a)) < 0) break;
      return tmpi_shim_kill(static_cast<pid_t>(a), static_cast<int>(b));
    case SYS_close:
      if (may_close(static_cast<int>(a))) break;
      errno = EBADF;
      return -1;
    case SYS_wait4:
      return tmpi_wait4(static_cast<pid_t>(a), reinterpret_cast<int*>(b), static_cast<int>(c),
                        reinterpret_cast<rusage*>(d));
    // The kernel's structures are those of libc on 64-bit machines.
    case SYS_getrlimit:
      return tmpi_getrlimit(static_cast<int>(a), reinterpret_cast<rlimit*>(b));
    case SYS_setrlimit:
      return tmpi_setrlimit(static_cast<int>(a), reinterpret_cast<const rlimit*>(b));
    case SYS_prlimit64:
      return tmpi_prlimit(static_cast<pid_t>(a), static_cast<int>(b), reinterpret_cast<const rlimit*>(c),
                          reinterpret_cast<rlimit*>(d));
    case SYS_sched_setaffinity:
      return tmpi_sched_setaffinity(static_cast<pid_t>(a), static_cast<std::size_t>(b),
                                    reinterpret_cast<const cpu_set_t*>(c));
    case SYS_sched_getaffinity:
      return syscall_getaffinity(static_cast<pid_t>(a), static_cast<std::size_t>(b),
                                 reinterpret_cast<cpu_set_t*>(c));
    case SYS_tgkill:
      return tmpi_tgkill(static_cast<pid_t>(a), static_cast<pid_t>(b), static_cast<int>(c));
    default:
      break;
  }
  long arguments[6] = {a, b, c, d, e, f};
  translate(call, arguments);
  const long result = tmpi_waiting_syscall(call, arguments[0], arguments[1], arguments[2], arguments[3],
                                           arguments[4], arguments[5]);
  if (std::ranges::find(kMakingDescriptors, call) != std::end(kMakingDescriptors))
    return own_descriptor(static_cast<int>(result));
  const bool makes_child = call == SYS_fork || (call == SYS_clone && (a & CLONE_THREAD) == 0);
  if (makes_child && result > 0 && in_node_process())
    add_child(thread_context().rank, static_cast<pid_t>(result));
  return result;
}

}  // extern "C"

}  // namespace tmpi::privatize
