#include <doctest/doctest.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "guest_copy.hpp"
#include "read_to_end.hpp"

TEST_CASE("popen and system give the rank's environment to the program") {
  const GuestCopy guest;
  GUEST(guest, setenv)("PATH", ::getenv("PATH"), 1);
  FILE* pipe = GUEST(guest, popen)("echo rank $TMPI_TEST_RANK", "r");
  REQUIRE(pipe != nullptr);
  char line[64] = {};
  CHECK(fgets(line, sizeof line, pipe) != nullptr);
  CHECK(std::string(line) == "rank " + std::to_string(guest.rank()) + "\n");
  CHECK(GUEST(guest, pclose)(pipe) == 0);
  const std::string command = "test \"$TMPI_TEST_RANK\" = " + std::to_string(guest.rank());
  CHECK(GUEST(guest, system)(command.c_str()) == 0);
  CHECK(WEXITSTATUS(GUEST(guest, system)("exit 3")) == 3);
  CHECK(GUEST(guest, system)(nullptr) != 0);
  FILE* writer = GUEST(guest, popen)("read a && test \"$a\" = hello", "w");
  fputs("hello\n", writer);
  CHECK(GUEST(guest, pclose)(writer) == 0);
}

TEST_CASE("exec in a rank would end all ranks: refused; in a forked child it works") {
  const GuestCopy guest;
  std::string why;
  CHECK(fake_node::run_until_exit([&] { GUEST(guest, execlp)("true", "true", nullptr); }, &why) == -1);
  CHECK(why.find("execvpe(\"true\")") != std::string::npos);
  CHECK(why.find("posix_spawn") != std::string::npos);
  const pid_t child = fork();
  if (child == 0) {
    GUEST(guest, execl)("/bin/sh", "sh", "-c", "test \"$TMPI_TEST_INHERITED\" = yes && exit 21", nullptr);
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WEXITSTATUS(status) == 21);
}

TEST_CASE("exit in a forked child ends the child, and its output is not lost") {
  const GuestCopy guest;
  guest.out();
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 1);
    GUEST(guest, printf)("from the child");
    GUEST(guest, exit)(12);
  }
  close(ends[1]);
  CHECK(read_to_end(ends[0]) == "from the child");
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WEXITSTATUS(status) == 12);
  CHECK(guest.out().empty());
  close(ends[0]);
}

TEST_CASE("ranks that all change into one directory end up there; one that goes elsewhere is told") {
  namespace fs = std::filesystem;
  const fs::path start = fs::current_path();
  char name[] = "/tmp/tmpi-shim-dir-XXXXXX";
  const fs::path base = mkdtemp(name);
  fs::create_directories(base / "run");
  fs::create_directories(base / "else");
  const GuestCopy first, second, third;
  CHECK(GUEST(first, chdir)((base.string() + "/.").c_str()) == 0);
  CHECK(GUEST(second, chdir)(base.c_str()) == 0);
  CHECK(GUEST(first, chdir)("run") == 0);
  CHECK(GUEST(second, chdir)("run") == 0);  // from where the rank is, not from where the process is
  CHECK(fs::current_path() == base / "run");
  CHECK(first.err().empty());
  CHECK(second.err().empty());
  CHECK(GUEST(third, chdir)((base / "else").c_str()) == 0);
  CHECK(third.err().find("changed the working directory to " + (base / "else").string()) !=
        std::string::npos);
  CHECK(GUEST(third, chdir)("nothing") == -1);
  fs::current_path(start);
  fs::remove_all(base);
}
