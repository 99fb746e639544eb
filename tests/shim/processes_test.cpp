#include <doctest/doctest.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <thread>

#include "guest_copy.hpp"
#include "privatize/rank_directory.hpp"
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

TEST_CASE("each rank is where it has gone to") {
  namespace fs = std::filesystem;
  const fs::path start = fs::current_path();
  char name[] = "/tmp/tmpi-shim-dir-XXXXXX";
  const fs::path base = mkdtemp(name);
  fs::create_directories(base / "run");
  fs::create_directories(base / "else");
  // A thread of its own, which ends with its directory.
  std::thread([&] {
    const GuestCopy first, second, third, fourth;
    const auto run = [](const GuestCopy& guest, const std::string& path) {
      fake_node::set_running_rank(guest.rank());
      return GUEST(guest, chdir)(path.c_str());
    };
    const auto place = [](const GuestCopy& guest) {
      fake_node::set_running_rank(guest.rank());
      return fs::current_path();
    };
    CHECK(run(first, base.string() + "/.") == 0);
    CHECK(run(second, base.string()) == 0);
    CHECK(run(first, "run") == 0);
    CHECK(run(second, "run") == 0);  // from where the rank is
    CHECK(run(third, (base / "else").string()) == 0);
    CHECK(run(third, "nothing") == -1);
    for (int i = 0; i < 2; ++i) {
      CHECK(place(first) == base / "run");
      CHECK(place(third) == base / "else");
      CHECK(place(second) == base / "run");
      CHECK(place(fourth) == start);
    }
    CHECK(run(first, "../else") == 0);
    CHECK(place(second) == base / "run");
    CHECK(place(first) == base / "else");
    const int here = open(".", O_RDONLY | O_DIRECTORY);
    fake_node::set_running_rank(fourth.rank());
    CHECK(GUEST(fourth, fchdir)(here) == 0);
    close(here);
    CHECK(place(fourth) == base / "else");
    CHECK(place(second) == base / "run");
    for (const GuestCopy* guest : {&first, &second, &third, &fourth}) {
      CHECK(guest->err().empty());
      tmpi::privatize::forget_directory(guest->rank());
    }
    CHECK(place(first) == start);
    fake_node::set_running_rank(-1);
  }).join();
  CHECK(fs::current_path() == start);
  fs::remove_all(base);
}
