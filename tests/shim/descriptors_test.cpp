#include <doctest/doctest.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <string>

#include "guest_copy.hpp"

TEST_CASE("write, writev and dprintf to 1 and 2 are the rank's output") {
  const GuestCopy guest;
  guest.out();
  CHECK(GUEST(guest, write)(1, "direct ", 7) == 7);
  char a[] = "in ", b[] = "parts\n";
  const struct iovec parts[] = {{a, 3}, {b, 6}};
  CHECK(GUEST(guest, writev)(1, parts, 2) == 9);
  CHECK(GUEST(guest, dprintf)(2, "%d\n", 5) == 2);
  CHECK(guest.out() == "direct in parts\n");
  CHECK(guest.err() == "5\n");
  errno = 0;
  CHECK(GUEST(guest, write)(0, "x", 1) == -1);
  CHECK(errno == EBADF);
}

TEST_CASE("other descriptors are libc's") {
  const GuestCopy guest;
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  CHECK(GUEST(guest, write)(ends[1], "abc", 3) == 3);
  char text[4] = {};
  CHECK(GUEST(guest, read)(ends[0], text, 3) == 3);
  CHECK(std::string(text) == "abc");
  CHECK(GUEST(guest, close)(ends[0]) == 0);
  CHECK(GUEST(guest, close)(ends[1]) == 0);
  CHECK(fcntl(ends[1], F_GETFD) == -1);
}

TEST_CASE("read from 0") {
  const GuestCopy zero(true), other;
  fake_node::set_input("abc");
  char text[8] = {};
  CHECK(GUEST(zero, read)(0, text, 8) == 3);
  CHECK(GUEST(zero, read)(0, text, 8) == 0);
  CHECK(GUEST(other, read)(0, text, 8) == 0);
}

TEST_CASE("stdout is saved, redirected with dup2 and restored") {
  const GuestCopy guest, other;
  guest.out(), other.out();
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const int saved = GUEST(guest, dup)(1);
  REQUIRE(saved > 2);
  REQUIRE(GUEST(guest, dup2)(ends[1], 1) == 1);
  GUEST(guest, puts)("captured");
  GUEST(other, puts)("untouched");
  CHECK(GUEST(guest, write)(saved, "saved\n", 6) == 6);
  CHECK(guest.out() == "saved\n");
  REQUIRE(GUEST(guest, dup2)(saved, 1) == 1);
  CHECK(GUEST(guest, close)(saved) == 0);
  GUEST(guest, puts)("back");
  char text[32] = {};
  CHECK(read(ends[0], text, sizeof text) == 9);
  CHECK(std::string(text) == "captured\n");
  CHECK(guest.out() == "back\n");
  CHECK(other.out() == "untouched\n");
  close(ends[0]);
  close(ends[1]);
}

TEST_CASE("2>&1 and closing") {
  const GuestCopy guest;
  guest.out();
  REQUIRE(GUEST(guest, dup2)(1, 2) == 2);
  fputs("error text\n", guest.get<FILE*()>("guest_stderr")());
  CHECK(guest.out() == "error text\n");
  CHECK(GUEST(guest, close)(1) == 0);
  errno = 0;
  CHECK(GUEST(guest, write)(1, "x", 1) == -1);
  CHECK(errno == EBADF);
  CHECK(GUEST(guest, close)(1) == -1);
  CHECK(fcntl(1, F_GETFD) >= 0);  // the process's own is open
  CHECK(GUEST(guest, write)(2, "x", 1) == 1);
}

TEST_CASE("what a rank is told about its standard descriptors does not depend on the process's") {
  const GuestCopy guest;
  struct stat status {};
  auto* guest_fstat = guest.get<int(int, struct stat*)>("fstat");
  CHECK(guest_fstat(1, &status) == 0);
  CHECK(S_ISFIFO(status.st_mode));
  CHECK(guest.get<off_t(int, off_t, int)>("lseek")(1, 0, SEEK_CUR) == -1);
  CHECK(errno == ESPIPE);
  const int real = open("/dev/null", O_WRONLY);
  REQUIRE(GUEST(guest, dup2)(real, 1) == 1);
  CHECK(guest_fstat(1, &status) == 0);
  CHECK(S_ISCHR(status.st_mode));
  close(real);
}
