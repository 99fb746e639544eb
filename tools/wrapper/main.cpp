// tmpicc, tmpicxx, tmpifort: run a compiler so that what it builds is a tmpi program. One binary; the name it is called
// by chooses the language.
//
// Besides the compiler's own arguments: -cc=COMPILER (-cxx= for C++, -fc= for Fortran) or the environment
// variable TMPI_CC (TMPI_CXX, TMPI_FC) choose the compiler; -show, -compile-info, -link-info (as MPICH's) and
// --showme[:compile|:link|...] (as Open MPI's) print instead of running; -showme:help lists them.
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "arguments.hpp"
#include "command.hpp"
#include "installation.hpp"
#include "language.hpp"
#include "words.hpp"

namespace tmpi::wrapper {
namespace {

struct Wrapper {
  std::string name;
  const Language* language = nullptr;
  Installation installation;
  Words compiler;
  Words arguments;  ///< the compiler's: without those of the wrapper itself

  Compiler what() const { return {*language, compiler}; }
};

Words joined(Words first, const Words& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

Words compile_only(const Wrapper& w) {
  return joined(joined(preprocess_options(w.what(), w.installation), careful_options(w.what())),
                compile_options(w.what()));
}
Words whole_compile(const Wrapper& w) {
  return joined(w.compiler, compile_only(w));
}
// For a build system that links by itself. CMake's FindMPI and meson take only -L, -l and -Wl, of it: what they
// link is an ordinary PIE, which the loader accepts if it has no thread-locals.
Words link_only(const Wrapper& w) {
  return link_options(w.what(), w.installation);
}

Words include_directories(const Wrapper& w) {
  Words directories{w.installation.include};
  if (w.language->fortran) directories.push_back(module_directory(w.installation, w.compiler.front()));
  return directories;
}

// What the wrapper can print. Open MPI's spelling has one or two hyphens; CMake's FindMPI and many configure
// scripts ask like this.
struct Question {
  std::string_view option;
  std::string_view help;  ///< empty: another spelling of the one before
  Words (*answer)(const Wrapper&);
};
constexpr auto kQuestions = std::to_array<Question>({
    {"-compile-info", "print the command that compiles", whole_compile},
    {"-compile_info", "", whole_compile},
    {"-link-info", "print the command that links",
     [](const Wrapper& w) { return joined(w.compiler, link_only(w)); }},
    {"-link_info", "", [](const Wrapper& w) { return joined(w.compiler, link_only(w)); }},
    {"-showme:command", "print the compiler", [](const Wrapper& w) { return w.compiler; }},
    {"-showme:compile", "print the options that compiling needs", compile_only},
    {"-showme:link", "print the options that linking needs", link_only},
    {"-showme:incdirs", "print the directories of headers", include_directories},
    {"-showme:libdirs", "print the directory of the libraries",
     [](const Wrapper& w) { return Words{w.installation.library}; }},
    {"-showme:libs", "print the libraries' names",
     [](const Wrapper& w) {
       return w.language->fortran ? Words{"tmpifort", "tmpi"} : Words{"tmpi"};
     }},
    {"-showme:version", "print tmpi's version",
     [](const Wrapper& w) {
       return Words{w.name + ":", "tmpi", TMPI_VERSION};
     }},
});

// In the form that tools/program_options.py reads.
std::string usage(const Wrapper& w) {
  const auto line = [](std::string option, std::string_view help) {
    option.resize(std::max<std::size_t>(option.size() + 2, 20), ' ');
    return "  " + option + std::string(help) + "\n";
  };
  const std::string compiler(w.language->compiler);
  std::string text = "usage: " + w.name + " [OPTIONS] [OPTIONS OF " + compiler + "] FILE...\n" + "Runs " +
                     compiler +
                     " so that what it builds is a program or a library for tmpirun. Its own options:\n";
  for (const std::string_view option : w.language->options)
    text += line(
        std::string(option) + "COMPILER",
        option == w.language->options[0]
            ? "run this compiler instead; also " + std::string(w.language->variable) + " in the environment"
            : "the same");
  text += line("-show", "print the command instead of running it; also -showme");
  for (const Question& question : kQuestions)
    text += line(std::string(question.option), question.help.empty() ? "the same" : question.help);
  return text + line("-showme:help", "print this text");
}

bool asks_for_command(std::string_view word) {
  return word == "-show" || word == "--show" || word == "-showme" || word == "--showme";
}

const Question* question(std::string_view word) {
  if (word.starts_with("--")) word.remove_prefix(1);
  for (const Question& candidate : kQuestions) {
    if (candidate.option == word) return &candidate;
  }
  return nullptr;
}

// The compiler named by an option such as -cc=, if `word` is one.
std::optional<std::string> named_compiler(const Language& language, std::string_view word) {
  for (const std::string_view option : language.options) {
    if (word.starts_with(option)) return std::string(word.substr(option.size()));
  }
  return std::nullopt;
}

[[noreturn]] void die(const Wrapper& wrapper, const std::string& message) {
  std::fprintf(stderr, "%s: %s\n", wrapper.name.c_str(), message.c_str());
  std::exit(1);
}

int print(const Words& words) {
  std::puts(shell_line(words).c_str());
  return 0;
}

int execute(const Wrapper& wrapper, const Words& command) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execvp(argv[0], argv.data());
  die(wrapper, "cannot run the compiler " + command[0] + ": " + std::strerror(errno) +
                   ". Name another one with " + std::string(wrapper.language->options[0]) +
                   "COMPILER or the environment variable " + wrapper.language->variable + ".");
}

// Module files are one compiler's own; those that are there without a directory of a compiler's name are gfortran's.
bool may_lack_modules(const Wrapper& wrapper) {
  if (!wrapper.language->fortran) return false;
  const std::string& compiler = wrapper.compiler.front();
  // gfortran-13 and x86_64-linux-gnu-gfortran, too.
  return compiler.find(wrapper.language->compiler, compiler.rfind('/') + 1) == std::string::npos &&
         std::string_view(module_directory(wrapper.installation, compiler)).ends_with("/modules");
}

// Runs a compiler that has no modules here: says so if it fails.
int execute_without_modules(const Wrapper& wrapper, const Words& command) {
  const pid_t child = fork();
  if (child <= 0) execute(wrapper, command);  // without a child there is no sentence, but there is a compiler
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) die(wrapper, std::string("cannot wait for the compiler: ") + std::strerror(errno));
  }
  if (status == 0) return 0;
  const std::string& compiler = wrapper.compiler.front();
  std::fprintf(
      stderr,
      "%s: if it is about mpi.mod or mpi_f08.mod: those that are installed are gfortran's, and a module "
      "file is of use to the compiler that made it only; %s has none here. To make them: "
      "tmpi-fortran-modules %s\n",
      wrapper.name.c_str(), compiler.c_str(), compiler.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/// Where the compiler has a file of its own, as it says itself; empty if it has none.
std::string file_of_compiler(const Wrapper& wrapper, const std::string& name) {
  FILE* const answer = popen(shell_line(joined(wrapper.compiler, {"-print-file-name=" + name})).c_str(), "r");
  if (answer == nullptr) return {};
  std::array<char, PATH_MAX> path{};
  const char* const read = std::fgets(path.data(), path.size(), answer);
  pclose(answer);
  if (read == nullptr || path[0] != '/') return {};
  return {path.data(), std::strcspn(path.data(), "\n")};
}

/// Where clang keeps its sanitizers' libraries; empty if it does not say so.
std::string sanitizer_directory(const Wrapper& wrapper) {
  utsname machine{};
  if (uname(&machine) != 0) return {};
  const std::string path =
      file_of_compiler(wrapper, std::string("libclang_rt.asan-") + machine.machine + ".so");
  return path.substr(0, path.rfind('/') + 1);
}

// What a program of -ffast-math starts with: gcc from version 13 on and clang from 19 on leave it out of what is
// -shared. Where they do not it is there twice, and says the same twice.
void add_fast_math_start(Wrapper& wrapper, const Arguments& what) {
  if (what.action != Action::kLinkProgram || !what.flushes_denormals) return;
  const std::string start = file_of_compiler(wrapper, "crtfastmath.o");
  if (!start.empty()) wrapper.arguments.insert(wrapper.arguments.begin(), start);
}

Words chosen_compiler(const Wrapper& wrapper, const std::string& option) {
  const char* variable = std::getenv(wrapper.language->variable);
  Words compiler = split_words(!option.empty()                              ? std::string_view(option)
                               : variable != nullptr && variable[0] != '\0' ? std::string_view(variable)
                                                                            : wrapper.language->compiler);
  if (compiler.empty())
    die(wrapper, std::string(wrapper.language->variable) + " names no compiler: it is blank.");
  return compiler;
}

// A wrapper that runs itself for ever helps nobody; TMPI_CC=mpicc is easily set by accident.
void refuse_itself(const Wrapper& wrapper) {
  if (language_of(wrapper.compiler[0]) != wrapper.language) return;
  die(wrapper, "the compiler to run is " + wrapper.compiler[0] + ", an MPI compiler wrapper itself. Set " +
                   wrapper.language->variable + " to the compiler proper, such as " +
                   std::string(wrapper.language->compiler) + ".");
}

int run(int argc, char** argv) {
  Wrapper wrapper;
  wrapper.name = argc > 0 ? argv[0] : "tmpicc";
  wrapper.name.erase(0, wrapper.name.rfind('/') + 1);
  wrapper.language = language_of(wrapper.name);
  if (wrapper.language == nullptr)
    die(wrapper,
        "is a compiler wrapper of tmpi under a name it does not know. Call it tmpicc, tmpicxx or tmpifort.");

  if (std::any_of(argv, argv + argc,
                  [](std::string_view word) { return word == "-showme:help" || word == "--showme:help"; }))
    return std::fputs(usage(wrapper).c_str(), stdout) < 0 ? 1 : 0;
  auto installation = find_installation();
  if (!installation) die(wrapper, installation.message());
  wrapper.installation = *installation;

  bool show = false;
  const Question* asked = nullptr;
  std::string compiler;
  for (int i = 1; i < argc; ++i) {
    if (asks_for_command(argv[i])) {
      show = true;
    } else if (const Question* found = question(argv[i])) {
      asked = found;
    } else if (auto named = named_compiler(*wrapper.language, argv[i])) {
      compiler = *named;
    } else {
      wrapper.arguments.emplace_back(argv[i]);
    }
  }
  wrapper.compiler = chosen_compiler(wrapper, compiler);
  refuse_itself(wrapper);
  if (asked != nullptr) return print(asked->answer(wrapper));

  auto what = examine(expand_response_files(wrapper.arguments));
  if (!what) die(wrapper, what.message());
  if (Result<void> ok = check_sanitizers(wrapper.what(), *what); !ok) die(wrapper, ok.message());
  if (needs_shared_sanitizer(wrapper.what(), *what)) {
    if (const std::string directory = sanitizer_directory(wrapper); !directory.empty())
      wrapper.arguments.insert(wrapper.arguments.begin(), "-Wl,-rpath," + directory);
  }
  add_fast_math_start(wrapper, *what);
  if (show && wrapper.arguments.empty())
    *what = {.action = Action::kLinkProgram, .has_sources = true, .compiles = true};
  const Words command = full_command(wrapper.what(), wrapper.installation, *what, wrapper.arguments);
  if (show) return print(command);
  if (what->compiles && may_lack_modules(wrapper)) return execute_without_modules(wrapper, command);
  return execute(wrapper, command);
}

}  // namespace
}  // namespace tmpi::wrapper

int main(int argc, char** argv) {
  try {
    return tmpi::wrapper::run(argc, argv);
  } catch (const std::exception& thrown) {
    std::fprintf(stderr, "%s: cannot make the compiler's command: %s\n", argv[0], thrown.what());
    return 1;
  }
}
