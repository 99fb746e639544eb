#include <doctest/doctest.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

#include "guest_copy.hpp"

namespace {

std::string contents(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

struct TemporaryFile {
  TemporaryFile() {
    const int fd = mkstemp(name);
    close(fd);
  }
  ~TemporaryFile() { unlink(name); }
  char name[32] = "/tmp/tmpi-shim-test-XXXXXX";
};

}  // namespace

TEST_CASE("freopen moves one rank's stdout into a file") {
  const GuestCopy first, second;
  first.out(), second.out();
  const TemporaryFile file;
  FILE* out = first.get<FILE*()>("guest_stdout")();
  GUEST(first, printf)("before ");
  REQUIRE(GUEST(first, freopen)(file.name, "w", out) == out);
  CHECK(first.out() == "before ");
  GUEST(first, printf)("to the file\n");
  GUEST(second, printf)("to the job\n");
  GUEST(first, write)(1, "", 0);
  GUEST(first, fflush)(out);
  CHECK(contents(file.name) == "to the file\n");
  CHECK(ftell(out) == 12);
  CHECK(first.out().empty());
  CHECK(second.out() == "to the job\n");
  CHECK(GUEST(first, fileno)(out) == 1);
  CHECK(GUEST(first, freopen)("/nonexistent/file", "w", out) == nullptr);
  CHECK(errno == ENOENT);
  GUEST(first, puts)("nowhere");
  CHECK(GUEST(first, fflush)(out) == EOF);
  CHECK(contents(file.name) == "to the file\n");
}

TEST_CASE("freopen gives a rank its input from a file") {
  const GuestCopy guest;
  const TemporaryFile file;
  std::ofstream(file.name) << "41 42\n";
  FILE* in = guest.get<FILE*()>("guest_stdin")();
  REQUIRE(GUEST(guest, freopen)(file.name, "r", in) == in);
  int a = 0, b = 0;
  CHECK(GUEST(guest, scanf)("%d %d", &a, &b) == 2);
  CHECK(a + b == 83);
}

TEST_CASE("files left open are written out when the rank exits") {
  const GuestCopy guest;
  const TemporaryFile file, other;
  FILE* left_open = GUEST(guest, fopen)(file.name, "w");
  REQUIRE(left_open != nullptr);
  FILE* closed = GUEST(guest, fopen)(other.name, "w");
  fputs("closed", closed);
  CHECK(GUEST(guest, fclose)(closed) == 0);
  fputs("left open", left_open);
  CHECK(contents(file.name).empty());
  fake_node::run_until_exit([&] { GUEST(guest, exit)(0); });
  CHECK(contents(file.name) == "left open");
  CHECK(contents(other.name) == "closed");
}

TEST_CASE("a file of another rank is not flushed by fflush(NULL)") {
  const GuestCopy first, second;
  const TemporaryFile file;
  FILE* out = GUEST(first, fopen)(file.name, "w");
  fputs("text", out);
  GUEST(second, fflush)(nullptr);
  CHECK(contents(file.name).empty());
  GUEST(first, fflush)(nullptr);
  CHECK(contents(file.name) == "text");
  GUEST(first, fclose)(out);
}

TEST_CASE("the streams' numbers and device names") {
  const GuestCopy guest;
  guest.out();
  CHECK(GUEST(guest, fileno)(guest.get<FILE*()>("guest_stdin")()) == 0);
  CHECK(GUEST(guest, fileno)(guest.get<FILE*()>("guest_stderr")()) == 2);
  CHECK(GUEST(guest, isatty)(1) == 0);
  CHECK(errno == ENOTTY);
  FILE* device = GUEST(guest, fopen)("/dev/stdout", "w");
  REQUIRE(device != nullptr);
  fputs("by name\n", device);
  CHECK(GUEST(guest, fclose)(device) == 0);
  FILE* by_number = GUEST(guest, fdopen)(1, "w");
  REQUIRE(by_number != nullptr);
  fputs("by number\n", by_number);
  fflush(by_number);
  CHECK(guest.out() == "by name\nby number\n");
  CHECK(access("/proc/self/fd/1", F_OK) == 0);
}
