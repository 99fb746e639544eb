#include <doctest/doctest.h>
#include <setjmp.h>
#include <signal.h>

#include "guest_copy.hpp"

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

TEST_CASE("other signals are the process's") {
  const GuestCopy guest;
  CHECK((GUEST(guest, signal)(SIGUSR2, &first_handler) == SIG_DFL));
  CHECK((::signal(SIGUSR2, SIG_DFL) == &first_handler));
}
