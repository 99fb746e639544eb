// The signals that the rank blocks (host/signal_masks.cpp), by the functions of all times.
#include <errno.h>
#include <signal.h>

#include "privatize/shim/host/host_functions.h"
#include "privatize/shim/shim.h"

namespace {

int change(int how, const sigset_t* set, sigset_t* previous) noexcept {
  const int error = tmpi_shim_sigmask(tmpi_image_rank, how, set, previous);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

int change_one(int how, int number) noexcept {
  sigset_t one;
  sigemptyset(&one);
  return sigaddset(&one, number) != 0 ? -1 : change(how, &one, nullptr);
}

// The masks of BSD are the first 32 signals.
sigset_t from_bits(int bits) noexcept {
  sigset_t set;
  sigemptyset(&set);
  for (int number = 1; number <= 32; ++number) {
    if ((static_cast<unsigned>(bits) >> (number - 1) & 1) != 0) sigaddset(&set, number);
  }
  return set;
}
int to_bits(const sigset_t& set) noexcept {
  unsigned bits = 0;
  for (int number = 1; number <= 32; ++number) {
    if (sigismember(&set, number) == 1) bits |= 1U << (number - 1);
  }
  return static_cast<int>(bits);
}

int change_bits(int how, int bits) noexcept {
  const sigset_t set = from_bits(bits);
  sigset_t before;
  return change(how, &set, &before) == 0 ? to_bits(before) : -1;
}

}  // namespace

extern "C" {

int pthread_sigmask(int how, const sigset_t* set, sigset_t* previous) noexcept {
  return tmpi_shim_sigmask(tmpi_image_rank, how, set, previous);
}
int sigprocmask(int how, const sigset_t* set, sigset_t* previous) noexcept {
  return change(how, set, previous);
}

int sigblock(int bits) noexcept {
  return change_bits(SIG_BLOCK, bits);
}
int sigsetmask(int bits) noexcept {
  return change_bits(SIG_SETMASK, bits);
}
int siggetmask() noexcept {
  return sigblock(0);
}
int sighold(int number) noexcept {
  return change_one(SIG_BLOCK, number);
}
int sigrelse(int number) noexcept {
  return change_one(SIG_UNBLOCK, number);
}

int __xpg_sigpause(int number) {
  sigset_t set;
  change(SIG_BLOCK, nullptr, &set);
  return sigdelset(&set, number) != 0 ? -1 : sigsuspend(&set);
}
int __sigpause(int number_or_bits, int is_number) {
  if (is_number != 0) return __xpg_sigpause(number_or_bits);
  const sigset_t set = from_bits(number_or_bits);
  return sigsuspend(&set);
}
// Called by what has been linked with old headers; those of today choose one of the two above.
int tmpi_sigpause(int bits) __asm__("sigpause");
int tmpi_sigpause(int bits) {
  return __sigpause(bits, 0);
}

// System V's dispositions, over those of the rank.
__sighandler_t sigset(int number, __sighandler_t handler) noexcept {
  struct sigaction before {};
  sigset_t one, blocked;
  sigemptyset(&one);
  if (sigaddset(&one, number) != 0) return SIG_ERR;
  if (handler == SIG_HOLD) {
    if (change(SIG_BLOCK, &one, &blocked) != 0 || sigaction(number, nullptr, &before) != 0) return SIG_ERR;
  } else {
    struct sigaction action {};
    action.sa_handler = handler;
    if (sigaction(number, &action, &before) != 0 || change(SIG_UNBLOCK, &one, &blocked) != 0) return SIG_ERR;
  }
  return sigismember(&blocked, number) == 1 ? SIG_HOLD : before.sa_handler;
}
int sigignore(int number) noexcept {
  struct sigaction action {};
  action.sa_handler = SIG_IGN;
  return sigaction(number, &action, nullptr);
}
int siginterrupt(int number, int interrupts) noexcept {
  struct sigaction action {};
  if (sigaction(number, nullptr, &action) != 0) return -1;
  if (interrupts != 0) {
    action.sa_flags &= ~SA_RESTART;
  } else {
    action.sa_flags |= SA_RESTART;
  }
  return sigaction(number, &action, nullptr);
}

}  // extern "C"
