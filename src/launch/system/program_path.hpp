// Finding what the user named: the program of a rank, and tmpi's own files beside tmpirun.
#pragma once

#include <string>

#include "base/result.hpp"

namespace tmpi::launch {

/// Shell conventions, which tmpirun's exit code follows.
inline constexpr int kExitUsage = 2;
inline constexpr int kExitTimeout = 124;
inline constexpr int kExitDeadlock = 125;
inline constexpr int kExitCannotRun = 126;
inline constexpr int kExitNotFound = 127;

/// Of a child that was to become a node process: its channels could not be set up.
inline constexpr int kExitNoDescriptors = 72;  // EX_OSFILE of sysexits.h

struct ProgramPath {
  std::string path;     ///< absolute, where links lead to; empty if there is none
  std::string problem;  ///< why there is none, a sentence
  int exit_code = 0;    ///< kExitNotFound or kExitCannotRun then
  std::string named{};  ///< `path` by its own name: what to execute, since a program may have many (busybox)
};

/// A name with a slash is taken from `wdir` (then from tmpirun's directory), one without from PATH, then from
/// `wdir`: users of mpirun start programs either way. The file must be readable and executable.
ProgramPath find_program(const std::string& name, const std::string& wdir);

/// `name` ("tmpi-node") beside the running executable, or in ../libexec, ../lib, ../lib/tmpi of it: build
/// tree and prefix alike.
Result<std::string> find_companion(const std::string& name);

}  // namespace tmpi::launch
