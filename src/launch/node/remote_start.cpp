#include "launch/node/remote_start.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace tmpi::launch {
namespace {

// What belongs to a session on one machine, not to a job.
constexpr std::string_view kStays[] = {"HOSTNAME", "SHLVL",   "PWD",        "OLDPWD",
                                       "_",        "DISPLAY", "XAUTHORITY", "TMPDIR"};
constexpr std::string_view kStaysBegin[] = {"SSH_", "XDG_", "DBUS_"};

bool stays(std::string_view name) {
  return std::ranges::find(kStays, name) != std::end(kStays) ||
         std::ranges::any_of(kStaysBegin, [&](std::string_view begin) { return name.starts_with(begin); });
}

}  // namespace

ControlChannel take_standard_streams(Fd& output) {
  Fd in(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10));
  Fd out(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10));
  int pipes[2] = {-1, -1};
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (pipe2(pipes, O_CLOEXEC) != 0) pipes[0] = -1;
  dup2(null, STDIN_FILENO);
  dup2(pipes[0] < 0 ? STDERR_FILENO : pipes[1], STDOUT_FILENO);
  for (const int fd : {null, pipes[1]}) {
    if (fd > STDERR_FILENO) close(fd);
  }
  output.reset(pipes[0]);
  return ControlChannel(Channel(std::move(in), std::move(out)), true);
}

Result<void> enter_surroundings(const NodeSpec& node, const JobSpec& job) {
  for (const std::string& line : node.environment) {
    const std::size_t equals = line.find('=');
    if (equals == 0 || equals == std::string::npos || stays(std::string_view(line).substr(0, equals)))
      continue;
    setenv(line.substr(0, equals).c_str(), line.c_str() + equals + 1, 1);
  }
  if (chdir(node.directory.c_str()) == 0) return {};
  const auto elsewhere = [](const AppSpec& app) { return app.wdir.starts_with('/'); };
  if (std::ranges::all_of(job.apps, elsewhere)) return {};
  return Failure{
      fmt::format("tmpirun's directory {} cannot be entered on host {}: {}. Start tmpirun in one "
                  "that all hosts have, or pass --wdir.",
                  node.directory, node.hosts[static_cast<std::size_t>(node.node)], strerror(errno))};
}

ProgramPath find_programs(JobSpec& job) {
  for (AppSpec& app : job.apps) {
    ProgramPath found = find_program(app.program, app.wdir);
    if (found.path.empty() && app.arguments.front() != app.program)
      found = find_program(app.arguments.front(), app.wdir);
    if (found.path.empty()) return found;
    app.program = std::move(found.path);
  }
  return {job.apps.front().program, "", 0};
}

}  // namespace tmpi::launch
