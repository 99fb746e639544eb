#include <doctest/doctest.h>
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

#include "guest_copy.hpp"
#include "privatize/rank_signals.hpp"

namespace {

sigjmp_buf after_fault;
int caught_by;

void first_handler(int) {
  caught_by = 1;
  siglongjmp(after_fault, 1);
}
void second_handler(int) {
  caught_by = 2;
  siglongjmp(after_fault, 1);
}
void process_handler(int) {
  caught_by = 100;
  siglongjmp(after_fault, 1);
}

int fault_in(const GuestCopy& guest) {
  caught_by = 0;
  fake_node::set_running_rank(guest.rank());
  if (sigsetjmp(after_fault, 1) == 0) raise(SIGFPE);
  fake_node::set_running_rank(-1);
  return caught_by;
}

}  // namespace

TEST_CASE("each rank's handler for faults, and the process's for the others") {
  const GuestCopy first, second, third;
  struct sigaction saved {};
  struct sigaction process {};
  process.sa_handler = &process_handler;
  sigaction(SIGFPE, &process, &saved);
  CHECK((GUEST(first, signal)(SIGFPE, &first_handler) == SIG_DFL));
  struct sigaction action {};
  action.sa_handler = &second_handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  CHECK(GUEST(second, sigaction)(SIGFPE, &action, nullptr) == 0);
  CHECK(fault_in(first) == 1);
  CHECK(fault_in(second) == 2);
  CHECK(fault_in(second) == 100);  // once only
  CHECK(fault_in(third) == 100);
  CHECK(fault_in(first) == 1);
  struct sigaction before {};
  CHECK(GUEST(first, sigaction)(SIGFPE, nullptr, &before) == 0);
  CHECK((before.sa_handler == &first_handler));
  CHECK((GUEST(first, signal)(SIGFPE, SIG_DFL) == &first_handler));
  CHECK(fault_in(first) == 100);
  sigaction(SIGFPE, &saved, nullptr);
}

namespace {

int first_calls, second_calls;

void count_first(int) {
  ++first_calls;
}
void count_second(int) {
  ++second_calls;
}

}  // namespace

TEST_CASE("each rank's handler for other signals, and the process's own when no rank has one") {
  const GuestCopy first, second, third;
  CHECK((GUEST(first, signal)(SIGUSR2, &count_first) == SIG_DFL));
  CHECK((GUEST(second, signal)(SIGUSR2, &count_second) == SIG_DFL));
  CHECK((GUEST(third, signal)(SIGUSR2, SIG_IGN) == SIG_DFL));
  struct sigaction set {};
  CHECK(GUEST(first, sigaction)(SIGUSR2, nullptr, &set) == 0);
  CHECK((set.sa_handler == &count_first));
  // Of the thread: for the rank that runs there.
  for (const GuestCopy* guest : {&first, &second, &second, &third}) {
    fake_node::set_running_rank(guest->rank());
    CHECK(raise(SIGUSR2) == 0);
  }
  CHECK(first_calls == 1);
  CHECK(second_calls == 2);
  // Of the process: for both, one of them when it runs.
  fake_node::set_running_rank(first.rank());
  CHECK(kill(getpid(), SIGUSR2) == 0);
  CHECK(first_calls == 2);
  CHECK(second_calls == 2);
  CHECK(tmpi::privatize::deliver_signals(second.rank()));
  CHECK_FALSE(tmpi::privatize::deliver_signals(second.rank()));
  CHECK_FALSE(tmpi::privatize::deliver_signals(first.rank()));
  CHECK_FALSE(tmpi::privatize::deliver_signals(third.rank()));
  CHECK(second_calls == 3);
  CHECK(tmpi::privatize::signals_delivered(second.rank()) == 3);
  // What a rank sends to its process it means for itself.
  CHECK(GUEST(first, kill)(getpid(), SIGUSR2) == 0);
  CHECK(first_calls == 3);
  CHECK_FALSE(tmpi::privatize::deliver_signals(second.rank()));
  CHECK((GUEST(first, signal)(SIGUSR2, SIG_DFL) == &count_first));
  CHECK((GUEST(second, signal)(SIGUSR2, SIG_DFL) == &count_second));
  CHECK((::signal(SIGUSR2, SIG_DFL) == SIG_DFL));
  fake_node::set_running_rank(-1);
}

TEST_CASE("a handler runs with the signals blocked that it wants blocked, and once if it wants that") {
  static sigset_t during;
  const GuestCopy guest;
  fake_node::set_running_rank(guest.rank());
  struct sigaction action {};
  action.sa_handler = [](int) { pthread_sigmask(SIG_BLOCK, nullptr, &during); };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaddset(&action.sa_mask, SIGWINCH);
  CHECK(GUEST(guest, sigaction)(SIGUSR1, &action, nullptr) == 0);
  CHECK(raise(SIGUSR1) == 0);
  CHECK(sigismember(&during, SIGWINCH) == 1);
  CHECK(sigismember(&during, SIGUSR1) == 1);
  CHECK(sigismember(&during, SIGUSR2) == 0);
  pthread_sigmask(SIG_BLOCK, nullptr, &during);
  CHECK(sigismember(&during, SIGUSR1) == 0);
  CHECK((GUEST(guest, signal)(SIGUSR1, SIG_DFL) == SIG_DFL));
  fake_node::set_running_rank(-1);
}
