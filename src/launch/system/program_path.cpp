#include "launch/system/program_path.hpp"

#include <errno.h>
#include <fmt/core.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/platform.hpp"

namespace tmpi::launch {

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> candidates(const std::string& name, const fs::path& here) {
  std::vector<fs::path> all;
  if (name.find('/') != std::string::npos) {
    all.push_back(here / name);  // operator/ keeps an absolute name as it is
    all.push_back(fs::current_path() / name);
    return all;
  }
  const char* path = std::getenv("PATH");
  std::string_view rest = path ? path : "/usr/local/bin:/usr/bin:/bin";
  while (!rest.empty()) {
    const std::size_t colon = std::min(rest.find(':'), rest.size());
    all.push_back(here / fs::path(rest.substr(0, colon)) / name);
    rest.remove_prefix(std::min(colon + 1, rest.size()));
  }
  all.push_back(here / name);
  return all;
}

}  // namespace

ProgramPath find_program(const std::string& name, const std::string& wdir) {
  std::error_code error;
  const fs::path here = wdir.empty() ? fs::current_path() : fs::absolute(wdir);
  if (!fs::is_directory(here, error)) {
    return {"", fmt::format("--wdir {}: there is no such directory", wdir), kExitNotFound};
  }
  ProgramPath unusable;
  for (const fs::path& candidate : candidates(name, here)) {
    if (!fs::exists(candidate, error)) continue;
    if (fs::is_directory(candidate, error)) {
      if (name.find('/') != std::string::npos) {
        return {"", fmt::format("cannot run '{}': it is a directory", name), kExitCannotRun};
      }
      continue;
    }
    const bool readable = access(candidate.c_str(), R_OK) == 0;
    if (readable && access(candidate.c_str(), X_OK) == 0)
      return {fs::canonical(candidate, error).string(), "", 0, fs::absolute(candidate, error).string()};
    if (!unusable.problem.empty()) continue;
    unusable = {"",
                fmt::format("cannot run '{}': {} is not {}; check its permissions (chmod +rx {})", name,
                            candidate.string(), readable ? "executable" : "readable", candidate.string()),
                kExitCannotRun};
  }
  if (!unusable.problem.empty()) return unusable;
  if (name.find('/') != std::string::npos) {
    return {"",
            fmt::format(
                "cannot find the program '{}': there is no such file; check the spelling, or build it first",
                name),
            kExitNotFound};
  }
  return {"",
          fmt::format(
              "cannot find the program '{}', neither in PATH nor in {}; check the spelling, or give its path",
              name, here.string()),
          kExitNotFound};
}

namespace {

// Without /proc: what was given to execve, which a later chdir may have made wrong.
fs::path own_folder() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (!error) return self.parent_path();
  const auto* given = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  return given == nullptr ? fs::path() : fs::canonical(given, error).parent_path();
}

}  // namespace

Result<std::string> find_companion(const std::string& name) {
  std::error_code error;
  const fs::path self = own_folder();
  if (self.empty())
    return Failure{fmt::format(
        "cannot find {} beside tmpirun: where that is cannot be told without /proc; mount it", name)};
  constexpr const char* kMultiarch = "../lib/" TMPI_MULTIARCH;
  constexpr const char* kMultiarchOwn = "../lib/" TMPI_MULTIARCH "/tmpi";
  for (const char* folder :
       {".", "../libexec/tmpi", "../libexec", "../lib", "../lib/tmpi", kMultiarch, kMultiarchOwn}) {
    const fs::path candidate = self / folder / name;
    if (fs::exists(candidate, error)) return fs::canonical(candidate, error).string();
  }
  return Failure{fmt::format(
      "cannot find {}, which belongs beside {}; the installation is incomplete: install tmpi again", name,
      (self / "tmpirun").string())};
}

}  // namespace tmpi::launch
