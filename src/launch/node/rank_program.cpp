#include "launch/node/rank_program.hpp"

#include <utility>

#include "launch/node/python.hpp"
#include "launch/system/program_path.hpp"
#include "launch/system/script.hpp"
#include "privatize/loader.hpp"

namespace tmpi::launch {
namespace {

constexpr int kMostSteps =
    8;  // scripts that run each other, as the kernel has it, and what is in front of a Python

bool is_python(const RankProgram& program) {
  return is_python_name(program.path) || is_python_name(program.arguments.front());
}

/// As the kernel and env go on from a script; false: there is nothing to go on to.
bool take_interpreter(RankProgram& program, const std::vector<std::string>& words, const std::string& wdir) {
  if (words.empty() || is_shell_name(words.front())) return false;
  ProgramPath found = find_program(words.front(), wdir);
  if (found.path.empty()) return false;
  // The script by a name that the interpreter can open: one without a directory was looked up in PATH.
  std::string& script = program.arguments.front();
  if (script.find('/') == std::string::npos) script = program.path;
  program.arguments.insert(program.arguments.begin(), words.begin(), words.end());
  program.path = std::move(found.path);
  return true;
}

Result<RankProgram> replaced(RankProgram program, const PythonFacts& python, const std::string& search_path) {
  Result<std::string> library = find_python_library(python, search_path);
  if (!library) return library.failure();
  Result<std::string> ours = find_companion("tmpi-python");
  if (!ours) return ours.failure();
  program.stands_for = std::exchange(program.path, *std::move(ours));
  program.library = *std::move(library);
  return program;
}

}  // namespace

Result<RankProgram> find_rank_program(RankProgram named, const Surroundings& surroundings) {
  RankProgram program = named;
  for (int steps = 0; steps < kMostSteps; ++steps) {
    if (!is_python(program)) {
      const std::vector<std::string> line = interpreter_line(program.path);
      if (line.empty()) return program;
      if (!take_interpreter(program, without_env(line), surroundings.wdir)) return named;
      continue;
    }
    if (privatize::is_rank_program(program.path)) return program;
    Result<PythonFacts> python =
        ask_python(program.path, program.arguments.front(), surroundings.environment);
    if (!python) return python.failure();
    ProgramPath found = find_program(python->executable, "");
    if (found.path.empty()) return Failure{std::move(found.problem)};
    if (found.path == program.path) return replaced(std::move(program), *python, surroundings.search_path);
    program.path = std::move(found.path);  // it was in front of a Python, as pyenv's shims are
    program.arguments.front() = std::move(python->executable);
  }
  return named;
}

}  // namespace tmpi::launch
