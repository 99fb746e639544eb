// Handlers for SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP and SIGXFSZ per rank. The kernel knows one handler per process; the
// first rank that sets one puts ours in front of the node process's crash report, and ours looks at who is
// running.
#include <errno.h>

#include <iterator>
#include <mutex>

#include "privatize/loader.hpp"
#include "privatize/rank_signals.hpp"
#include "privatize/rank_table.hpp"
#include "privatize/shim/host/host_functions.h"

namespace tmpi::shim {
namespace {

constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP, SIGXFSZ};

int position(int signal) noexcept {
  for (std::size_t i = 0; i < std::size(kFaults); ++i) {
    if (kFaults[i] == signal) return static_cast<int>(i);
  }
  return -1;
}

// A fault whose handler is running, on the alternate stack.
struct Fault {
  int signal;
  siginfo_t* info;
  void* context;
};

struct Actions {
  struct sigaction of[std::size(kFaults)] = {};  // SIG_DFL: the rank has none
  const Fault* handled = nullptr;                // may be stale: the handler may have left by longjmp
};

privatize::RankTable<Actions> table;
struct sigaction process_action[std::size(kFaults)];  // what the node process had, constant once `installed`
bool installed[std::size(kFaults)];
std::mutex install_mutex;

void call(const struct sigaction& action, int signal, siginfo_t* info, void* context) {
  if ((action.sa_flags & SA_SIGINFO) != 0) {
    action.sa_sigaction(signal, info, context);
  } else {
    action.sa_handler(signal);
  }
}

// The fault whose handler has raised its own signal, to die of it (libgfortran's does, after its backtrace): it is the one to
// report. The handler's frame is further up on the alternate stack.
const Fault* reraised(const Actions& actions, int signal, const siginfo_t& info) {
  const Fault* fault = actions.handled;
  const bool by_raise = info.si_code <= 0;
  return by_raise && fault > static_cast<const void*>(__builtin_frame_address(0)) && fault->signal == signal
             ? fault
             : nullptr;
}

// As in a process: a handler that does not ask for the alternate stack has no stack to run on.
bool can_run(const struct sigaction& action, int signal, const siginfo_t& info, const void* context) {
  return (action.sa_flags & SA_ONSTACK) != 0 || !privatize::is_stack_overflow(signal, info, context);
}

void dispatch(int signal, siginfo_t* info, void* context) {
  const int i = position(signal);
  if (Actions* actions = table.find(privatize::running_rank())) {
    struct sigaction& action = actions->of[i];
    if (signal == SIGXFSZ && action.sa_handler == SIG_IGN) return;  // the call has failed with EFBIG
    // A fault cannot be ignored: the instruction would fault again for ever.
    const bool handled = action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
    if (handled && can_run(action, signal, *info, context)) {
      const struct sigaction chosen = action;
      if ((chosen.sa_flags & static_cast<int>(SA_RESETHAND)) != 0) action.sa_handler = SIG_DFL;
      const Fault fault{signal, info, context};
      const Fault* const outer = actions->handled;
      actions->handled = &fault;
      call(chosen, signal, info, context);
      actions->handled = outer;
      return;
    }
    if (const Fault* fault = handled ? nullptr : reraised(*actions, signal, *info)) {
      info = fault->info;
      context = fault->context;
    }
  }
  const struct sigaction& previous = process_action[i];
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) {
    call(previous, signal, info, context);
    return;
  }
  ::signal(signal, SIG_DFL);  // the instruction runs again, and now kills
}

int install(int i) noexcept {
  std::lock_guard guard(install_mutex);
  if (installed[i]) return 0;
  if (sigaction(kFaults[i], nullptr, &process_action[i]) != 0) return -1;
  struct sigaction ours {};
  ours.sa_sigaction = &dispatch;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&ours.sa_mask);
  if (sigaction(kFaults[i], &ours, nullptr) != 0) return -1;
  installed[i] = true;
  return 0;
}

}  // namespace

}  // namespace tmpi::shim

using namespace tmpi::shim;

extern "C" int tmpi_shim_is_fault(int signal) {
  return position(signal) >= 0 ? 1 : 0;
}

extern "C" int tmpi_shim_fault_action(int rank, int signal, const struct sigaction* action,
                                      struct sigaction* previous) {
  const int i = position(signal);
  Actions* actions = i >= 0 ? table.get(rank) : nullptr;
  if (actions == nullptr) {
    errno = i < 0 ? EINVAL : ENOMEM;
    return -1;
  }
  const struct sigaction before = actions->of[i];
  if (action != nullptr) {
    if (install(i) != 0) return -1;
    actions->of[i] = *action;
  }
  if (previous != nullptr) *previous = before;
  return 0;
}
