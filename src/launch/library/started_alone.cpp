#include "launch/library/started_alone.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "launch/system/started_alone.hpp"

namespace tmpi::launch {

namespace {

constexpr int kExitRefused = 126;  // as tmpirun's for a program that it cannot run
constexpr unsigned kPatience = 5;  // seconds until tmpirun has ended this process
constexpr int kMostAncestors = 64;

/// The parent of a process, 0 if that is unknown.
pid_t parent_of(pid_t process) {
  FILE* file = std::fopen(fmt::format("/proc/{}/stat", process).c_str(), "re");
  if (file == nullptr) return 0;
  char text[512];
  const std::size_t length = std::fread(text, 1, sizeof(text) - 1, file);
  std::fclose(file);
  text[length] = '\0';
  const char* behind_name = std::strrchr(text, ')');
  int parent = 0;
  if (behind_name == nullptr || std::sscanf(behind_name, ") %*c %d", &parent) != 1) return 0;
  return parent;
}

std::string executable_of(pid_t process) {
  char path[4096];
  const ssize_t length = readlink(fmt::format("/proc/{}/exe", process).c_str(), path, sizeof(path));
  const std::string_view whole(path, length > 0 ? static_cast<std::size_t>(length) : 0);
  return std::string(whole.substr(whole.rfind('/') + 1));
}

/// The nearest ancestor that runs the program `name`, 0 if there is none.
pid_t ancestor(const char* name) {
  pid_t process = getppid();
  for (int i = 0; i < kMostAncestors && process > 1; ++i, process = parent_of(process)) {
    if (executable_of(process) == name) return process;
  }
  return 0;
}

int number_in(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? -1 : std::atoi(text);
}

/// On a machine without tmpirun only the node process can be told.
[[noreturn]] void end_job() {
  sigval value{};
  value.sival_int = kStartedAlone;
  const pid_t launcher = ancestor("tmpirun");
  if (launcher == 0 || sigqueue(launcher, SIGTERM, value) != 0) {
    fmt::print(stderr,
               "tmpi: a rank has started this program as a process of its own, in which it would be rank 0 "
               "of 1. Give "
               "tmpirun the program itself; what is to run in front of it belongs into --wrapper\n");
    if (const pid_t node = ancestor("tmpi-node"); node != 0) kill(node, SIGTERM);
  }
  sleep(kPatience);  // whoever waits for this process must not go on meanwhile
  _exit(kExitRefused);
}

struct OtherLauncher {
  const char* size;
  const char* rank;
  const char* name;
};

constexpr OtherLauncher kOthers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "Open MPI's mpirun"},
    {"PMI_SIZE", "PMI_RANK", "an mpiexec of MPICH's kind"},
};

void warn_of_other_launchers() {
  for (const OtherLauncher& other : kOthers) {
    if (number_in(other.size) < 2 || number_in(other.rank) != 0) continue;
    fmt::print(
        stderr,
        "tmpi: warning: {} has started {} processes of this program, which was built with tmpicc: "
        "each is rank 0 of 1. Start it with tmpirun, or set LD_LIBRARY_PATH to a folder with that MPI's "
        "libmpi_abi.so.1, or build it with that MPI's compiler\n",
        other.name, number_in(other.size));
  }
}

}  // namespace

void check_surroundings() {
  if (const int size = number_in(kWorldSizeVariable); size > 0) {
    if (size > 1 && ancestor("tmpi-node") != 0) end_job();
  } else {
    warn_of_other_launchers();
  }
}

}  // namespace tmpi::launch
