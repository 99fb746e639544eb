#include "launch/node/python.hpp"

#include <errno.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "base/fd.hpp"
#include "base/path.hpp"
#include "launch/system/child_end.hpp"
#include "launch/system/variables.hpp"
#include "privatize/library_search.hpp"

extern char** environ;

namespace tmpi::launch {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kPatience(
    60);  // a shim asks a version manager, which may lie on a slow file system

// The letters of a build are in sys.abiflags; those of Python 2 have neither.
constexpr const char* kQuestion =
    "import sys; sys.stdout.write('\\n'.join(['', sys.executable, sys.base_exec_prefix, '%d %d' % "
    "sys.version_info[:2], sys.abiflags, '']))";
constexpr std::size_t kAnswers = 4;

/// Starts it with stdin empty, stdout at `output` and no signal blocked; 0 or an errno.
int start(pid_t& child, const std::string& path, const std::vector<std::string>& words,
          const std::vector<std::string>& lines, int output) {
  std::vector<char*> arguments, variables;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  for (const std::string& line : lines) variables.push_back(const_cast<char*>(line.c_str()));
  arguments.push_back(nullptr);
  variables.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const int error =
      posix_spawn(&child, path.c_str(), &files, &attributes, arguments.data(), variables.data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

/// What comes until the end; false: that has not come in time.
bool read_all(int fd, std::string& text) {
  const auto deadline = Clock::now() + kPatience;
  char buffer[4096];
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd what{fd, POLLIN, 0};
    const int ready = left > 0 ? poll(&what, 1, static_cast<int>(left)) : 0;
    if (ready == 0) return false;
    if (ready < 0 && errno == EINTR) continue;
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got <= 0) return got == 0;
    text.append(buffer, static_cast<std::size_t>(got));
  }
}

/// The last lines, in order: whatever is in front of the interpreter may have printed something, too.
std::vector<std::string> last_lines(std::string_view text, std::size_t count) {
  std::vector<std::string> lines;
  if (!text.ends_with('\n')) return lines;
  text.remove_suffix(1);
  for (; lines.size() < count; text = text.substr(0, text.rfind('\n'))) {
    const std::size_t newline = text.rfind('\n');
    if (newline == std::string_view::npos) return {};
    lines.insert(lines.begin(), std::string(text.substr(newline + 1)));
  }
  return lines;
}

/// A library of the same version that another Python has brought may differ in the last number of the version, and in how
/// it was built.
bool belongs_to(const std::string& library, const PythonFacts& python, const std::string& search_path) {
  std::error_code error;
  const std::string real = std::filesystem::canonical(library, error).string();
  const std::string prefix = std::filesystem::canonical(python.prefix, error).string();
  return real.starts_with(prefix + "/") ||
         fmt::format(":{}:", search_path).find(fmt::format(":{}:", directory_of(library))) !=
             std::string::npos;
}

}  // namespace

Result<PythonFacts> ask_python(const std::string& path, const std::string& name,
                               const std::vector<std::string>& environment) {
  std::vector<std::string> variables;
  for (char** line = environ; *line != nullptr; ++line) variables.emplace_back(*line);
  for (const std::string& line : environment) put_variable(variables, line);
  const auto fail = [&](const std::string& what) {
    return Failure{fmt::format("{}: was asked which Python it is (`{} -S -c ...`), and {}; try it in a shell",
                               path, name, what)};
  };
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return fail(fmt::format("there is no pipe for it: {}", strerror(errno)));
  const Fd ours(ends[0]);
  Fd theirs(ends[1]);
  pid_t child = 0;
  if (const int error = start(child, path, {name, "-S", "-c", kQuestion}, variables, theirs.get());
      error != 0)
    return fail(fmt::format("could not be started: {}", strerror(error)));
  theirs.reset();
  std::string text;
  const bool ended = read_all(ours.get(), text);
  if (!ended) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!ended) return fail(fmt::format("had not answered after {} seconds", kPatience.count()));
  const std::vector<std::string> lines = last_lines(text, kAnswers);
  int major = 0, minor = 0;
  if (status != 0) return fail(how_it_ended(status));
  if (lines.empty() || sscanf(lines[2].c_str(), "%d %d", &major, &minor) != 2) return fail("gave no answer");
  return PythonFacts{lines[0], lines[1], fmt::format("{}.{}{}", major, minor, lines[3]),
                     major > 3 || (major == 3 && minor >= 8)};
}

Result<std::string> find_python_library(const PythonFacts& python, const std::string& search_path) {
  const std::string name = fmt::format("libpython{}.so.1.0", python.version);
  privatize::SearchContext context;
  context.library_path = search_path;
  context.runpath = python.prefix + "/lib";
  const std::string path = python.library_has_main ? privatize::find_library(name, context) : std::string();
  if (!path.empty() && belongs_to(path, python, search_path)) return path;
  const std::string beginning = fmt::format(
      "{} (Python {}) cannot be mapped once per rank, as it has fixed addresses or thread-local variables of "
      "its "
      "own",
      python.executable, python.version);
  if (!python.library_has_main)
    return Failure{beginning + ", and only Python 3.8 and later can be replaced; use one of these"};
  return Failure{fmt::format(
      "{}, and its library {}, which ranks would have instead, is missing. Install it (Debian and "
      "Ubuntu: apt-get install libpython{}), or use a Python that was configured with --enable-shared",
      beginning, name, python.version)};
}

}  // namespace tmpi::launch
