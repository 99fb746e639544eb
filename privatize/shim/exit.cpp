// exit, atexit and their family for one rank. Order as in libc: thread_local destructors of the calling
// thread, registered functions in reverse, destructors of the loaded objects (the loader runs those), the
// streams, and then the rank leaves its fiber.
#include "privatize/shim/exit.hpp"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <utility>

#include "privatize/rank_callbacks.h"
#include "privatize/shim/exit_list.hpp"
#include "privatize/shim/host/libc_originals.hpp"
#include "privatize/shim/lock.hpp"
#include "privatize/shim/process.hpp"
#include "privatize/shim/shim.h"
#include "privatize/shim/streams.hpp"

namespace tmpi::shim {
namespace {

Lock lock;
ExitList at_exit;
ExitList at_quick_exit_list;
ExitList thread_destructors;  // of thread_local objects of the rank's own thread; helper threads have libc's
const void* exiting_thread;   // identity of the thread inside exit()
bool objects_finished;        // the loader's destructors have begun

bool push(ExitList& list, const ExitHandler& handler) noexcept {
  Locked locked(lock);
  return list.push(handler);
}

bool pop(ExitList& list, const void* object, ExitHandler* handler) noexcept {
  Locked locked(lock);
  return list.pop(object, handler);
}

/// Runs handlers until none is left, those that handlers register included.
void run(ExitList& list, const void* object, int code) {
  ExitHandler handler;
  while (pop(list, object, &handler)) {
    if (handler.kind == ExitHandler::Kind::kCxa) {
      handler.cxa(handler.argument);
    } else {
      handler.on_exit(code, handler.argument);
    }
  }
}

/// One thread of the rank may end it; a second one that calls exit() waits for the end. The first may call
/// again, from a handler.
void become_exiting_thread() noexcept {
  {
    Locked locked(lock);
    if (exiting_thread == nullptr || exiting_thread == this_thread()) {
      exiting_thread = this_thread();
      return;
    }
  }
  for (;;) pause();
}

int register_cxa(ExitList& list, void (*function)(void*), void* argument, const void* object) noexcept {
  ExitHandler handler;
  handler.cxa = function;
  handler.argument = argument;
  handler.object = object;
  return push(list, handler) ? 0 : -1;
}

}  // namespace

void leave(int code) noexcept {
  if (in_forked_child()) tmpi_libc._exit(code);
  tmpi_rank_exited(tmpi_image_rank, code & 0377);
}

extern "C" {

int __cxa_atexit(void (*function)(void*), void* argument, void* object) {
  return register_cxa(at_exit, function, argument, object);
}

// Programs reach these through libc_nonshared.a, which calls the __cxa_ forms; a look-up by name finds them
// here.
int atexit(void (*function)()) {
  return register_cxa(at_exit, reinterpret_cast<void (*)(void*)>(reinterpret_cast<void*>(function)), nullptr,
                      nullptr);
}

int on_exit(void (*function)(int, void*), void* argument) {
  ExitHandler handler;
  handler.on_exit = function;
  handler.argument = argument;
  handler.kind = ExitHandler::Kind::kOnExit;
  return push(at_exit, handler) ? 0 : -1;
}

void __cxa_finalize(void* object) {
  run(at_exit, object, 0);
}

int __cxa_thread_atexit_impl(void (*function)(void*), void* object, void* library) {
  if (!on_rank_thread()) return tmpi_libc.__cxa_thread_atexit_impl(function, object, library);
  return register_cxa(thread_destructors, function, object, nullptr);
}
int __cxa_thread_atexit(void (*function)(void*), void* object, void* library) noexcept {
  return __cxa_thread_atexit_impl(function, object, library);
}

void exit(int code) {
  become_exiting_thread();
  if (on_rank_thread()) run(thread_destructors, nullptr, code);
  run(at_exit, nullptr, code);
  if (!std::exchange(objects_finished, true)) {
    tmpi_image_fini(tmpi_image_rank);
    run(at_exit, nullptr, code);  // what destructors have registered
  }
  flush_all();
  leave(code);
}

void _exit(int code) {
  leave(code);
}
void _Exit(int code) {
  leave(code);
}

int __cxa_at_quick_exit(void (*function)(void*), void* object) {
  return register_cxa(at_quick_exit_list, function, nullptr, object);
}
int at_quick_exit(void (*function)()) {
  return __cxa_at_quick_exit(reinterpret_cast<void (*)(void*)>(reinterpret_cast<void*>(function)), nullptr);
}
void quick_exit(int code) {
  run(at_quick_exit_list, nullptr, code);
  leave(code);
}

// Leaving main by pthread_exit would take the worker thread, and all its ranks, along. The rank ends instead,
// without waiting for its helper threads.
void pthread_exit(void* value) {
  if (!on_rank_thread()) tmpi_libc.pthread_exit(value);
  exit(0);
}
void thrd_exit(int result) {
  pthread_exit(reinterpret_cast<void*>(static_cast<intptr_t>(result)));
}

// The signal, not a message of ours: a handler that the program set runs, and the node process's report has
// the backtrace.
void abort() {
  flush_before_abort();
  tmpi_libc.abort();
}

}  // extern "C"

}  // namespace tmpi::shim
