#include <doctest/doctest.h>
#include <err.h>
#include <errno.h>
#include <error.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "guest_copy.hpp"
#include "read_to_end.hpp"

TEST_CASE("messages of libc go to the rank's stderr under the program's name") {
  const GuestCopy guest;
  const std::string name = *guest.get<char*>("program_invocation_short_name");
  const std::string full = *guest.get<char*>("program_invocation_name");
  CHECK(!name.empty());
  errno = ENOENT;
  GUEST(guest, perror)("open");
  CHECK(errno == ENOENT);
  CHECK(guest.err() == "open: No such file or directory\n");
  GUEST(guest, perror)(nullptr);
  CHECK(guest.err() == "No such file or directory\n");
  GUEST(guest, warn)("file %d", 3);
  CHECK(guest.err() == name + ": file 3: No such file or directory\n");
  GUEST(guest, warnx)("plain");
  CHECK(guest.err() == name + ": plain\n");
  GUEST(guest, error)(0, EPERM, "cannot %s", "do");
  CHECK(guest.err() == full + ": cannot do: Operation not permitted\n");
  GUEST(guest, error_at_line)(0, 0, "input", 12, "syntax");
  CHECK(guest.err() == full + ":input:12: syntax\n");
  GUEST(guest, psignal)(SIGTERM, "got");
  CHECK(guest.err() == "got: Terminated\n");
}

TEST_CASE("err and error with a status end the rank") {
  const GuestCopy guest;
  CHECK(fake_node::run_until_exit([&] { GUEST(guest, errx)(3, "over"); }) == 3);
  CHECK(guest.err().find(": over\n") != std::string::npos);
  CHECK(fake_node::run_until_exit([&] { GUEST(guest, error)(5, 0, "out"); }) == 5);
}

TEST_CASE("a failed assertion says where, then aborts") {
  const GuestCopy guest;
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGABRT, SIG_DFL);
    dup2(ends[1], 2);  // in a forked child the rank's streams are the process's
    guest.get<void()>("guest_assert")();
    _exit(0);
  }
  close(ends[1]);
  const std::string message = read_to_end(ends[0]);
  CHECK(message.find("guest.cpp:") != std::string::npos);
  CHECK(message.find("guest_assert") != std::string::npos);
  CHECK(message.find("Assertion `1 + 1 == 3' failed.\n") != std::string::npos);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGABRT);
  close(ends[0]);
}
