// Signals that come from outside a rank's own instructions (SIGALRM, SIGUSR1, SIGCHLD ...): each rank has its
// own handlers and its own timers. docs/reference/libc-state.md. The kernel knows one handler per process, ours; it
// finds out for which ranks a signal is:
//
//     a timer of a rank, raise(), pthread_kill(), kill() with its id   that rank
//     the end of a child                                               the rank whose child it is (children.hpp)
//     sent to the process (kill from elsewhere, tmpirun)               every rank that has a handler
//
// A rank that runs on the thread that has been interrupted gets it there and then, on its own stack, as in a
// process. For any other it is kept: its worker's thread is told, in case that it runs there, and the
// scheduler, which has deliver_signals() called on the rank's own flow.
#pragma once

#include <signal.h>

#include <atomic>
#include <cstdint>

namespace tmpi::privatize {

/// Registered by launch before any rank runs. Both are called in signal handlers.
struct SignalHooks {
  /// Has deliver_signals(rank) called soon if the rank is suspended.
  void (*interrupt)(int rank) noexcept;
  /// Kernel's number of the thread that runs the rank when it runs; 0: not known yet.
  int (*thread_of)(int rank) noexcept;
  /// The fault shows that the running rank's stack is too small. `context`: a handler's third argument.
  bool (*is_stack_overflow)(int signal, const siginfo_t& info, const void* context) noexcept;
};
void set_signal_hooks(const SignalHooks& hooks) noexcept;

/// What is_stack_overflow says; false without hooks.
bool is_stack_overflow(int signal, const siginfo_t& info, const void* context) noexcept;

/// The kernel's number of the thread that runs the rank when it runs. Any thread.
int thread_of_rank(int rank) noexcept;

/// Runs the calling rank's handlers for what has been kept for it, except those whose signals its thread
/// blocks. True if any has run. On the rank's own flow, in user code or suspended in the library; does not
/// suspend.
bool deliver_signals(int rank) noexcept;

/// Something has been kept for the rank, on its own flow, that its thread does not block.
bool has_signals(int rank) noexcept;

/// How many handlers of the rank have run so far, and of these without SA_RESTART.
std::uint32_t signals_delivered(int rank) noexcept;
std::uint32_t signals_interrupting(int rank) noexcept;
/// The calling flow is in one of the rank's handlers, as far as its stack tells: who has left a handler by
/// longjmp and is deeper in the stack than it was counts as being in it.
bool in_signal_handler(int rank) noexcept;

/// How many signals have interrupted the calling thread that were only for ranks which did not run on it.
std::uint32_t signals_of_others() noexcept;

/// While one lives, signals for the calling rank are kept, also those that find it running, until somebody calls
/// deliver_signals(): on the rank's own flow, around what a handler must not leave by longjmp. They end a sleep as
/// those for a suspended rank do. Does not nest with itself. A rank that has never had a handler: nothing happens.
class DeferredSignals {
 public:
  explicit DeferredSignals(int rank) noexcept;
  ~DeferredSignals();
  DeferredSignals(const DeferredSignals&) = delete;
  DeferredSignals& operator=(const DeferredSignals&) = delete;

 private:
  std::atomic<bool>* const deferred_;
};

/// One lives. On the rank's own flow.
bool signals_deferred(int rank) noexcept;
/// Looks for children of ranks that have ended, stopped or gone on, and gives their ranks SIGCHLD.
void tell_of_children() noexcept;

/// The rank leaves its program: its timers are deleted, and no handler of it runs from now on.
void end_signals(int rank) noexcept;

}  // namespace tmpi::privatize
