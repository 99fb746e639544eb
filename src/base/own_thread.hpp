// A thread of the node process's own, which belongs to no rank: pools that make system calls for ranks. The node
// process's pthread_create is the one that ranks call, and takes the caller's thread for theirs.
#pragma once

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>

#include <initializer_list>

namespace tmpi {

/// Starts `run(argument)` on a detached thread that takes no signal but what its own instructions cause, and `but` if
/// that is not 0; it inherits the caller's affinity. `started`, if not null, becomes its id. False: there is none to be
/// had. Any thread. Allocates; does not suspend.
inline bool start_own_thread(void* (*run)(void*), void* argument, int but = 0,
                             pthread_t* started = nullptr) noexcept {
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  if (create == nullptr) return false;
  sigset_t none, before;
  sigfillset(&none);
  for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP}) sigdelset(&none, own);
  if (but != 0) sigdelset(&none, but);
  pthread_sigmask(SIG_SETMASK, &none, &before);  // it inherits this
  pthread_t thread;
  const int error = create(&thread, nullptr, run, argument);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) return false;
  if (started != nullptr) *started = thread;
  pthread_detach(thread);
  return true;
}

}  // namespace tmpi
