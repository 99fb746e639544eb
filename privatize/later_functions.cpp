// Functions that only some versions of glibc have (libc_state.txt, "later"), as ranks are to have them. What is missing
// here no program of this machine refers to.
#include <fcntl.h>
#include <features.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <unistd.h>

#include <cstddef>
#include <iterator>

#include "privatize/descriptor_owners.hpp"
#include "privatize/function_table.hpp"
#include "privatize/own_file.hpp"
#include "privatize/rank_pid.hpp"
#include "privatize/runtime_functions.hpp"
#include "privatize/runtime_table.hpp"
#include "privatize/thread_context.hpp"

#if __GLIBC_PREREQ(2, 39)
// Alone of its header, <sys/pidfd.h>, it is declared for C only.
extern "C" pid_t pidfd_getpid(int descriptor) noexcept;
#endif

namespace tmpi::privatize {
namespace {

#if __GLIBC_PREREQ(2, 39)
using Spawn = int (*)(int*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                      char* const*, char* const*);

template <Spawn kSpawn>
int spawn(int* descriptor, const char* path, const posix_spawn_file_actions_t* actions,
          const posix_spawnattr_t* attributes, char* const* arguments, char* const* environment) {
  const int error = kSpawn(descriptor, OwnName(path), actions, attributes, arguments, environment);
  if (error != 0) return error;
  own_descriptor(*descriptor);
  return spawned(error, ::pidfd_getpid(*descriptor));
}

// The node process's descriptor is that of each of its ranks.
pid_t own_pidfd_getpid(int descriptor) {
  const pid_t process = ::pidfd_getpid(descriptor);
  return process == node_process() ? tmpi_getpid() : process;
}
#endif

#if __GLIBC_PREREQ(2, 41)
int own_sched_setattr(pid_t thread, sched_attr* attributes, unsigned flags) {
  return ::sched_setattr(kernel_tid(thread), attributes, flags);
}
int own_sched_getattr(pid_t thread, sched_attr* attributes, unsigned size, unsigned flags) {
  return ::sched_getattr(kernel_tid(thread), attributes, size, flags);
}
#endif

#if __GLIBC_PREREQ(2, 42)
pid_t own_pthread_gettid(pthread_t thread) {
  return pthread_equal(thread, pthread_self()) != 0 ? tmpi_gettid() : ::pthread_gettid_np(thread);
}
#endif

#if __GLIBC_PREREQ(2, 43)
int own_openat2(int directory, const char* path, const open_how* how, std::size_t size) {
  const bool follows = how == nullptr || (how->flags & O_NOFOLLOW) == 0;
  const OwnName name(path, follows);
  return own_descriptor(::openat2(directory, name, how, size));
}
#endif

const FunctionEntry kTable[] = {
#if __GLIBC_PREREQ(2, 39)
    {"pidfd_spawn", address_of(&spawn<&pidfd_spawn>)},
    {"pidfd_spawnp", address_of(&spawn<&pidfd_spawnp>)},
    {"pidfd_getpid", address_of(&own_pidfd_getpid)},
#endif
#if __GLIBC_PREREQ(2, 41)
    {"sched_setattr", address_of(&own_sched_setattr)},
    {"sched_getattr", address_of(&own_sched_getattr)},
#endif
#if __GLIBC_PREREQ(2, 42)
    {"pthread_gettid_np", address_of(&own_pthread_gettid)},
#endif
#if __GLIBC_PREREQ(2, 43)
    {"openat2", address_of(&own_openat2)},
#endif
    {nullptr, nullptr},
};

}  // namespace

const void* later_function(const char* name) noexcept {
  return find_function({kTable, std::size(kTable) - 1}, name);
}

}  // namespace tmpi::privatize
