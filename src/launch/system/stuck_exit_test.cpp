#include "launch/system/stuck_exit.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

namespace tmpi::launch {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

struct Folder {
  fs::path path;
  Folder() {
    char name[] = "/tmp/tmpi-stuck-XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() { fs::remove_all(path); }
  // As /proc/PID/stat: 52 fields, of which the 2nd is a name, the 3rd the state, the 9th flags, the last the exit code.
  void write(const fs::path& file, char state, unsigned flags, int exit_code) const {
    fs::create_directories((path / file).parent_path());
    std::ofstream stream(path / file);
    stream << "17 (a ) name) " << state << " 1 1 1 0 -1 " << flags;
    for (int field = 10; field < 52; ++field) stream << " 0";
    stream << ' ' << exit_code << '\n';
  }
  void write_switches(const fs::path& file, int voluntary, int others) const {
    std::ofstream(path / file) << "Name:\tname\nvoluntary_ctxt_switches:\t" << voluntary
                               << "\nnonvoluntary_ctxt_switches:\t" << others << '\n';
  }
};

constexpr unsigned kExiting = 4, kOther = 0x400100;

TEST_CASE("a process is stuck in its exit when what is left of it waits in the kernel") {
  const Folder process;
  const auto status = [&] { return ExitWatch(0s).look(process.path.c_str(), {}); };
  CHECK(!status());
  process.write("stat", 'D', kOther, 0);
  process.write("task/17/stat", 'D', kOther, 0);
  CHECK(!status());  // an ordinary wait
  process.write("stat", 'D', kOther | kExiting, 9);
  process.write("task/17/stat", 'D', kOther | kExiting, 9);
  CHECK(status() == 9);
  // The first thread has ended, another waits.
  process.write("stat", 'Z', kOther | kExiting, 9);
  process.write("task/17/stat", 'Z', kOther | kExiting, 9);
  process.write("task/18/stat", 'D', kOther | kExiting, 9);
  CHECK(status() == 9);
  // It had ended by itself, before the other was killed.
  process.write("stat", 'Z', kOther | kExiting, 0);
  process.write("task/17/stat", 'Z', kOther | kExiting, 0);
  CHECK(status() == 9);
  // Another still runs, if only through the kernel.
  process.write("task/19/stat", 'R', kOther | kExiting, 9);
  CHECK(!status());
  process.write("task/19/stat", 'D', kOther, 9);
  CHECK(!status());
  // All have ended: waitpid() tells.
  for (const char* task : {"task/18/stat", "task/19/stat"}) process.write(task, 'Z', kOther | kExiting, 9);
  CHECK(!status());
}

TEST_CASE("a process that gets on with its exit is waited for") {
  const Folder process;
  ExitWatch watch(1s);
  const auto at = [&](auto time) {
    return watch.look(process.path.c_str(), ExitWatch::Clock::time_point(time));
  };
  process.write("stat", 'D', kOther | kExiting, 9);
  process.write("task/17/stat", 'D', kOther | kExiting, 9);
  process.write_switches("task/17/status", 7, 3);
  CHECK(!at(10s));
  CHECK(watch.waits());
  CHECK(!at(10900ms));
  process.write_switches("task/17/status", 8, 3);  // another wait
  CHECK(!at(11s));
  process.write_switches("task/17/status", 8, 4);
  CHECK(!at(11500ms));
  process.write("task/17/stat", 'R', kOther | kExiting, 9);
  CHECK(!at(12s));
  CHECK(!watch.waits());
  process.write("task/17/stat", 'D', kOther | kExiting, 9);
  CHECK(!at(12500ms));
  CHECK(!at(13400ms));
  CHECK(at(13500ms) == 9);
}

TEST_CASE("a process that runs is not stuck in its exit") {
  CHECK(!ExitWatch(0s).look(getpid(), {}));
  CHECK(!is_exiting(getpid()));
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t info;
  REQUIRE(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0);
  CHECK(is_exiting(child));
  CHECK(waitpid(child, nullptr, 0) == child);
  CHECK(!is_exiting(child));
}

}  // namespace
}  // namespace tmpi::launch
