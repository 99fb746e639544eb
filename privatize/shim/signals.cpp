// Handlers are the rank's: those for signals that an instruction of it causes, and those for signals from
// outside (docs/reference/libc-state.md).
#include <signal.h>

#include "privatize/shim/host/host_functions.h"
#include "privatize/shim/host/libc_originals.hpp"
#include "privatize/shim/process.hpp"
#include "privatize/shim/shim.h"

namespace {

int set_action(int number, const struct sigaction* action, struct sigaction* previous) {
  if (tmpi::shim::in_forked_child()) {
    return tmpi_shim_child_signal_action(tmpi_image_rank, number, action, previous);
  }
  if (tmpi_shim_is_fault(number) != 0) {
    return tmpi_shim_fault_action(tmpi_image_rank, number, action, previous);
  }
  if (tmpi_shim_is_shared_signal(number) != 0) return tmpi_libc.sigaction(number, action, previous);
  return tmpi_shim_signal_action(tmpi_image_rank, number, action, previous);
}

stack_t own_stack = {nullptr, SS_DISABLE, 0};

__sighandler_t set_handler(int number, __sighandler_t handler, int flags) {
  struct sigaction action {};
  struct sigaction previous {};
  action.sa_handler = handler;
  action.sa_flags = flags;
  return set_action(number, &action, &previous) == 0 ? previous.sa_handler : SIG_ERR;
}

}  // namespace

extern "C" {

int sigaction(int number, const struct sigaction* action, struct sigaction* previous) noexcept {
  return set_action(number, action, previous);
}
int __sigaction(int number, const struct sigaction* action, struct sigaction* previous) {
  return set_action(number, action, previous);
}
__sighandler_t signal(int number, __sighandler_t handler) noexcept {
  return set_handler(number, handler, SA_RESTART);
}
__sighandler_t bsd_signal(int number, __sighandler_t handler) {
  return set_handler(number, handler, SA_RESTART);
}
__sighandler_t ssignal(int number, __sighandler_t handler) noexcept {
  return set_handler(number, handler, SA_RESTART);
}
// What <signal.h> calls signal for a program that asks for the standard's original meaning.
__sighandler_t __sysv_signal(int number, __sighandler_t handler) noexcept {
  return set_handler(number, handler, static_cast<int>(SA_RESETHAND | SA_NODEFER));
}
__sighandler_t sysv_signal(int number, __sighandler_t handler) noexcept {
  return set_handler(number, handler, static_cast<int>(SA_RESETHAND | SA_NODEFER));
}

int kill(pid_t process, int number) noexcept {
  return tmpi_shim_kill(process, number);
}
int sigqueue(pid_t process, int number, const union sigval value) noexcept {
  return tmpi_shim_sigqueue(process, number, value);
}

int sigaltstack(const stack_t* stack, stack_t* previous) noexcept {
  if (!tmpi::shim::on_rank_thread()) return tmpi_libc.sigaltstack(stack, previous);
  const stack_t before = own_stack;
  if (stack != nullptr) own_stack = *stack;
  if (previous != nullptr) *previous = before;
  return 0;
}

}  // extern "C"
