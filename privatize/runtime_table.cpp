#include "privatize/runtime_table.hpp"

#include "privatize/descriptor_owners.hpp"
#include "privatize/fallback_exit.hpp"
#include "privatize/function_table.hpp"
#include "privatize/large_blocks.hpp"
#include "privatize/loader.hpp"
#include "privatize/rank_slots.hpp"
#include "privatize/runtime_functions.hpp"
#include "privatize/tls.hpp"
#include "privatize/waiting.hpp"

namespace tmpi::privatize {
namespace {

const FunctionEntry kTable[] = {
    {"__tls_get_addr", address_of(&tmpi_tls_get_addr)},
    {"__libc_start_main", address_of(&tmpi_libc_start_main)},
    // Reached only when the group has no shim: the shim's functions of these names come first.
    {"exit", address_of(&fallback_exit)},
    {"atexit", address_of(&tmpi_fallback_atexit)},
    {"__cxa_atexit", address_of(&tmpi_fallback_cxa_atexit)},
    {"__cxa_thread_atexit", address_of(&tmpi_fallback_cxa_thread_atexit)},
    {"__cxa_thread_atexit_impl", address_of(&tmpi_fallback_cxa_thread_atexit)},
    {"__cxa_finalize", address_of(&tmpi_fallback_cxa_finalize)},
    {"pthread_create", address_of(&pthread_create)},
    {"pthread_join", address_of(&pthread_join)},
    {"thrd_create", address_of(&tmpi_thrd_create)},
    {"thrd_join", address_of(&tmpi_thrd_join)},
    {"sleep", address_of(&tmpi_sleep)},
    {"usleep", address_of(&tmpi_usleep)},
    {"nanosleep", address_of(&tmpi_nanosleep)},
    {"__nanosleep", address_of(&tmpi_nanosleep)},
    {"clock_nanosleep", address_of(&tmpi_clock_nanosleep)},
    {"thrd_sleep", address_of(&tmpi_thrd_sleep)},
    {"pause", address_of(&tmpi_pause)},
    {"poll", address_of(&tmpi_poll)},
    {"__poll", address_of(&tmpi_poll)},
    {"__poll_chk", address_of(&tmpi_poll_chk)},
    {"ppoll", address_of(&tmpi_ppoll)},
    {"__ppoll_chk", address_of(&tmpi_ppoll_chk)},
    {"select", address_of(&tmpi_select)},
    {"__select", address_of(&tmpi_select)},
    {"pselect", address_of(&tmpi_pselect)},
    {"recv", address_of(&tmpi_recv)},
    {"recvfrom", address_of(&tmpi_recvfrom)},
    {"send", address_of(&tmpi_send)},
    {"sendto", address_of(&tmpi_sendto)},
    {"sendmsg", address_of(&tmpi_sendmsg)},
    {"connect", address_of(&tmpi_connect)},
    {"epoll_wait", address_of(&tmpi_epoll_wait)},
    {"wait4", address_of(&tmpi_wait4)},
    {"wait3", address_of(&tmpi_wait3)},
    {"waitpid", address_of(&tmpi_waitpid)},
    {"wait", address_of(&tmpi_wait)},
    {"waitid", address_of(&tmpi_waitid)},
    {"__wait", address_of(&tmpi_wait)},
    {"__waitpid", address_of(&tmpi_waitpid)},
    {"clone", address_of(&tmpi_clone)},
    {"__clone", address_of(&tmpi_clone)},
    {"flock", address_of(&tmpi_flock)},
    {"lockf", address_of(&tmpi_lockf)},
    {"fcntl", address_of(&tmpi_fcntl)},
    {"lockf64", address_of(&tmpi_lockf)},
    {"fcntl64", address_of(&tmpi_fcntl)},
    {"ioctl", address_of(&tmpi_ioctl)},
    {"__recv_chk", address_of(&tmpi_recv_chk)},
    {"__recvfrom_chk", address_of(&tmpi_recvfrom_chk)},
    {"getpid", address_of(&tmpi_getpid)},
    {"__getpid", address_of(&tmpi_getpid)},
    {"getppid", address_of(&tmpi_getppid)},
    {"gettid", address_of(&tmpi_gettid)},
    {"getpgid", address_of(&tmpi_getpgid)},
    {"__getpgid", address_of(&tmpi_getpgid)},
    {"setpgid", address_of(&tmpi_setpgid)},
    {"getsid", address_of(&tmpi_getsid)},
    {"getpriority", address_of(&tmpi_getpriority)},
    {"setpriority", address_of(&tmpi_setpriority)},
    {"sched_setscheduler", address_of(&tmpi_sched_setscheduler)},
    {"sched_getscheduler", address_of(&tmpi_sched_getscheduler)},
    {"sched_setparam", address_of(&tmpi_sched_setparam)},
    {"sched_getparam", address_of(&tmpi_sched_getparam)},
    {"sched_rr_get_interval", address_of(&tmpi_sched_rr_get_interval)},
    {"prlimit", address_of(&tmpi_prlimit)},
    {"prlimit64", address_of(&tmpi_prlimit)},  // the same on 64-bit machines
    {"process_vm_readv", address_of(&tmpi_process_vm_readv)},
    {"process_vm_writev", address_of(&tmpi_process_vm_writev)},
    {"tgkill", address_of(&tmpi_tgkill)},
    {"syscall", address_of(&tmpi_syscall)},
    {"clock_gettime", address_of(&tmpi_clock_gettime)},
    {"gettimeofday", address_of(&tmpi_gettimeofday)},
    {"time", address_of(&tmpi_time)},
    {"timespec_get", address_of(&tmpi_timespec_get)},
    {"clock", address_of(&tmpi_clock)},
    {"times", address_of(&tmpi_times)},
    {"getrusage", address_of(&tmpi_getrusage)},
    {"clock_getcpuclockid", address_of(&tmpi_clock_getcpuclockid)},
    {"pthread_getcpuclockid", address_of(&tmpi_pthread_getcpuclockid)},
    {"sched_setaffinity", address_of(&tmpi_sched_setaffinity)},
    {"sched_getaffinity", address_of(&tmpi_sched_getaffinity)},
    {"pthread_setaffinity_np", address_of(&tmpi_pthread_setaffinity_np)},
    {"pthread_getaffinity_np", address_of(&tmpi_pthread_getaffinity_np)},
    {"pthread_getattr_np", address_of(&tmpi_pthread_getattr_np)},
    {"getrlimit", address_of(&tmpi_getrlimit)},  // both widths are the same on 64-bit machines
    {"getrlimit64", address_of(&tmpi_getrlimit)},
    {"setrlimit", address_of(&tmpi_setrlimit)},
    {"setrlimit64", address_of(&tmpi_setrlimit)},
    {"sysconf", address_of(&tmpi_sysconf)},
    {"__sysconf", address_of(&tmpi_sysconf)},
    {"getdtablesize", address_of(&tmpi_getdtablesize)},
    {"ulimit", address_of(&tmpi_ulimit)},
    {"pthread_key_create", address_of(&tmpi_pthread_key_create)},
    {"__pthread_key_create", address_of(&tmpi_pthread_key_create)},
    {"pthread_key_delete", address_of(&tmpi_pthread_key_delete)},
    {"pthread_getspecific", address_of(&tmpi_pthread_getspecific)},
    {"pthread_setspecific", address_of(&tmpi_pthread_setspecific)},
    {"tss_create", address_of(&tmpi_pthread_key_create)},
    {"tss_delete", address_of(&tmpi_tss_delete)},
    {"tss_get", address_of(&tmpi_pthread_getspecific)},
    {"tss_set", address_of(&tmpi_pthread_setspecific)},
    {"_dl_find_object", address_of(&_dl_find_object)},
    {"dl_iterate_phdr", address_of(&tmpi_dl_iterate_phdr)},
    {"dladdr", address_of(&tmpi_dladdr)},
    {"dladdr1", address_of(&tmpi_dladdr1)},
    {"dlopen", address_of(&tmpi_dlopen)},
    {"dlclose", address_of(&tmpi_dlclose)},
    {"dlsym", address_of(&tmpi_dlsym)},
    {"dlvsym", address_of(&tmpi_dlvsym)},
    {"dlerror", address_of(&tmpi_dlerror)},
    {"dlinfo", address_of(&tmpi_dlinfo)},
    {"readlink", address_of(&tmpi_readlink)},
    {"readlinkat", address_of(&tmpi_readlinkat)},
    {"__readlink_chk", address_of(&tmpi_readlink_chk)},
    {"__readlinkat_chk", address_of(&tmpi_readlinkat_chk)},
    {"open", address_of(&tmpi_open)},
    {"open64", address_of(&tmpi_open)},
    {"openat", address_of(&tmpi_openat)},
    {"openat64", address_of(&tmpi_openat)},
    {"__open_2", address_of(&tmpi_open_2)},
    {"__open64_2", address_of(&tmpi_open_2)},
    {"stat", address_of(&tmpi_stat)},  // both widths are the same on 64-bit machines
    {"stat64", address_of(&tmpi_stat)},
    {"lstat", address_of(&tmpi_lstat)},
    {"lstat64", address_of(&tmpi_lstat)},
    {"fstatat", address_of(&tmpi_fstatat)},
    {"fstatat64", address_of(&tmpi_fstatat)},
    {"statx", address_of(&tmpi_statx)},
    {"access", address_of(&tmpi_access)},
    {"faccessat", address_of(&tmpi_faccessat)},
    {"opendir", address_of(&tmpi_opendir)},
    {"posix_spawn", address_of(&tmpi_posix_spawn)},
    {"posix_spawnp", address_of(&tmpi_posix_spawnp)},
    {"getauxval", address_of(&tmpi_getauxval)},
};

const void* (*the_substitute)(const char* name) = nullptr;

}  // namespace

void substitute_functions(const void* (*substitute)(const char* name)) noexcept {
  the_substitute = substitute;
}

const void* runtime_function(const char* name) noexcept {
  // First: some of its functions are made of the others.
  if (const void* const maker = descriptor_function(name)) return maker;
  if (const void* const ours = find_function(kTable, name)) return ours;
  if (const void* const waiting = waiting_function(name)) return waiting;
  if (const void* const stream = stream_function(name)) return stream;
  if (const void* const later = later_function(name)) return later;
  if (const void* const in_slot = slot_function(name)) return in_slot;
  return block_function(name);
}

const void* substituted_function(const char* name) noexcept {
  return the_substitute == nullptr ? nullptr : the_substitute(name);
}

}  // namespace tmpi::privatize
