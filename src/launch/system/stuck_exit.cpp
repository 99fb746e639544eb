#include "launch/system/stuck_exit.hpp"

#include <dirent.h>
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace tmpi::launch {
namespace {

constexpr unsigned kExiting = 4;  // PF_EXITING of the kernel's task flags

// Of /proc/PID/stat, see proc(5).
struct Stat {
  char state = '?';
  unsigned flags = 0;
  int exit_code = 0;
};

std::optional<Stat> read_stat(const std::string& file) {
  constexpr int kFlags = 9, kExitCode = 52;
  std::ifstream stream(file);
  std::string line;
  if (!std::getline(stream, line)) return std::nullopt;
  const std::size_t name_end = line.rfind(')');  // the name may hold anything
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(name_end + 1));
  Stat stat;
  fields >> stat.state;
  std::string field;
  for (int number = 4; number <= kExitCode && fields >> field; ++number) {
    if (number == kFlags) stat.flags = static_cast<unsigned>(std::strtoul(field.c_str(), nullptr, 10));
    if (number == kExitCode) stat.exit_code = std::atoi(field.c_str());
  }
  return stat;
}

bool has_ended(const Stat& stat) {
  return stat.state == 'Z' || stat.state == 'X';
}

// How often the thread has been given a processor: of one that waits it stays the same.
std::uint64_t switches_of(const std::string& file) {
  std::ifstream stream(file);
  std::uint64_t sum = 0;
  for (std::string name; stream >> name;) {
    if (!name.ends_with("voluntary_ctxt_switches:")) continue;
    std::uint64_t count = 0;
    if (stream >> count) sum += count;
  }
  return sum;
}

struct Exit {
  int status;
  std::uint64_t switches;  // of all threads
};

// Of a process of which what is left waits in the kernel at this moment.
std::optional<Exit> waiting_exit(const char* folder) {
  const std::optional<Stat> process = read_stat(fmt::format("{}/stat", folder));
  if (!process || (process->flags & kExiting) == 0) return std::nullopt;
  DIR* const tasks = opendir(fmt::format("{}/task", folder).c_str());
  if (tasks == nullptr) return std::nullopt;
  Exit exit{process->exit_code, 0};
  bool all = true, any = false;
  while (const dirent* const entry = readdir(tasks)) {
    if (entry->d_name[0] == '.') continue;
    const std::string task = fmt::format("{}/task/{}", folder, entry->d_name);
    const std::optional<Stat> stat = read_stat(task + "/stat");
    if (!stat) continue;
    // The first thread may have ended by itself before the others were killed.
    if (exit.status == 0) exit.status = stat->exit_code;
    if (has_ended(*stat)) continue;
    any = true;
    all = all && stat->state == 'D' && (stat->flags & kExiting) != 0;
    exit.switches += switches_of(task + "/status");
  }
  closedir(tasks);
  return any && all ? std::optional<Exit>(exit) : std::nullopt;
}

}  // namespace

bool is_exiting(pid_t process) {
  const std::optional<Stat> stat = read_stat(fmt::format("/proc/{}/stat", process));
  return stat && (has_ended(*stat) || (stat->flags & kExiting) != 0);
}

std::optional<int> ExitWatch::look(const char* folder, Clock::time_point now) {
  const std::optional<Exit> exit = waiting_exit(folder);
  if (!exit) {
    since_.reset();
    return std::nullopt;
  }
  if (!since_ || exit->switches != switches_) since_ = now;
  switches_ = exit->switches;
  return now - *since_ >= patience_ ? std::optional<int>(exit->status) : std::nullopt;
}

std::optional<int> ExitWatch::look(pid_t process, Clock::time_point now) {
  return look(fmt::format("/proc/{}", process).c_str(), now);
}

}  // namespace tmpi::launch
