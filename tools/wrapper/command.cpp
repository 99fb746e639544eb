#include "command.hpp"

#include <algorithm>

namespace tmpi::wrapper {
namespace {

void append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

// A program is a shared object that the kernel can start: start.o brings _start, the name of the dynamic
// linker and the note by which tmpirun's loader knows the program. The loader maps it once per rank.
// (docs/design/privatization.md, link form)
Words program_options_before(const Installation& installation) {
  // The user's own entry point or treatment of undefined symbols overrides these.
  return {"-shared", installation.start, "-Wl,-e,_start", "-Wl,-z,defs"};
}

Words program_options_behind() {
  return {"-Wl,-Bsymbolic", "-Wl,-z,now", "-Wl,-z,norelro"};
}

// -pie and -rdynamic are what the program is anyway; clang warns of the former together with -shared.
bool is_superfluous(std::string_view word) {
  return word == "-pie" || word == "--pie" || word == "-Wl,-pie" || word == "-Wl,--pie";
}

// gcc's drivers read files of specs; clang passes over -specs= with a warning.
bool reads_specs(const Words& compiler) {
  return std::ranges::any_of(compiler, [](std::string_view word) {
    word.remove_prefix(word.rfind('/') + 1);
    const auto names = [&](std::string_view name) {
      return word == name || word.find("g" + std::string(name)) != std::string_view::npos;
    };
    return word.find("clang") == std::string_view::npos &&
           (names("cc") || names("++") || names("fortran") || word == "c++");
  });
}

bool is_clang(const Words& compiler) {
  return std::ranges::any_of(compiler, [](std::string_view word) {
    return word.substr(word.rfind('/') + 1).find("clang") != std::string_view::npos;
  });
}

// clang takes everything behind "--" for files, so our options must stand before it.
Words::const_iterator end_of_options(const Words& arguments) {
  return std::ranges::find(arguments, "--");
}

}  // namespace

Words preprocess_options(const Compiler& compiler, const Installation& installation) {
  Words words{"-I" + installation.include};
  if (compiler.language.fortran)
    words.push_back("-I" + module_directory(installation, compiler.words.front()));
  return words;
}

// A rank's stack is followed by another rank's: a frame larger than the guard between them must not step over it. gcc
// probes every 64 KiB, which is the least guard of ranks, and so leaves smaller frames as they are; clang probes every
// page, 5 ns each.
Words careful_options(const Compiler& compiler) {
  if (!reads_specs(compiler.words)) return {};
  Words words{"-fstack-clash-protection", "--param=stack-clash-protection-guard-size=16",
              "--param=stack-clash-protection-probe-interval=16"};
  // A program with mpif.h passes buffers of several types to one procedure, which gfortran takes for an error.
  if (compiler.language.fortran) words.emplace_back("-fallow-argument-mismatch");
  return words;
}

// TLS descriptors: what one gives out the compiler keeps across a loop, which it does not with the address from
// __tls_get_addr. Not in a library: where a program without tmpirun opens it with dlopen, descriptors of glibc before
// 2.40 may change vector registers at the first access (its bug 31372). clang has them from version 19 on.
Words thread_local_options(const Words& compiler, const Arguments& what) {
  if (!reads_specs(compiler) || what.for_library) return {};
  return {"-mtls-dialect=gnu2"};
}

// gcc links a sanitizer's runtime as a shared library anyway; clang does so only if told, and links none at all into
// what is -shared.
Words sanitizer_options(const Compiler& compiler, const Arguments& what) {
  if (!needs_shared_sanitizer(compiler, what)) return {};
  return {"-shared-libsan"};
}

bool needs_shared_sanitizer(const Compiler& compiler, const Arguments& what) {
  return is_clang(compiler.words) && what.action == Action::kLinkProgram && !what.sanitizers.empty();
}

Result<void> check_sanitizers(const Compiler& compiler, const Arguments& what) {
  const auto asked = [&](std::string_view name) {
    return std::ranges::find(what.sanitizers, name) != what.sanitizers.end();
  };
  if (!needs_shared_sanitizer(compiler, what) || !asked("leak") || asked("address")) return {};
  return Failure{
      "-fsanitize=leak would find nothing: clang has it only as a part of a program, and all ranks of a node "
      "process "
      "need one together. -fsanitize=address looks for leaks, too; gcc has a library for -fsanitize=leak."};
}

Words compile_options(const Compiler& compiler) {
  // Fortran compilers but gfortran do not know the second one, and need it as little.
  if (compiler.language.fortran && !reads_specs(compiler.words)) return {"-fPIC"};
  return {"-fPIC", "-fno-semantic-interposition"};
}

Words library_options(const Language& language, const Installation& installation) {
  Words words{"-L" + installation.library};
  if (language.fortran) words.emplace_back("-ltmpifort");
  append(words, {"-ltmpi", "-Wl,-rpath," + installation.library});
  return words;
}

Words link_options(const Compiler& compiler, const Installation& installation) {
  const std::string directory = installation.start.substr(0, installation.start.rfind('/'));
  Words words;
  if (reads_specs(compiler.words)) {
    words = {"-B" + directory, "-specs=" + directory + "/program.specs"};
  } else {
    words = program_options_before(installation);
    append(words, program_options_behind());
  }
  append(words, library_options(compiler.language, installation));
  return words;
}

Words full_command(const Compiler& compiler, const Installation& installation, const Arguments& what,
                   const Words& arguments) {
  Words command = compiler.words;
  if (what.action == Action::kAsk) {
    append(command, arguments);
    return command;
  }
  const bool links_program = what.action == Action::kLinkProgram;
  if (what.has_sources) append(command, preprocess_options(compiler, installation));
  if (what.compiles) {
    append(command, careful_options(compiler));
    append(command, thread_local_options(compiler.words, what));
  }
  if (links_program) {
    append(command, program_options_before(installation));
    append(command, sanitizer_options(compiler, what));
  }

  const auto end = end_of_options(arguments);
  std::copy_if(arguments.begin(), end, std::back_inserter(command),
               [&](const std::string& word) { return !links_program || !is_superfluous(word); });
  if (what.compiles) append(command, compile_options(compiler));
  if (links_program) append(command, program_options_behind());
  if (what.action != Action::kCompile && what.action != Action::kLinkPartial) {
    // Behind the user's files, since static archives among them may call MPI; -x must not make the compiler
    // read libtmpi.so as source.
    append(command, library_options(compiler.language, installation));
  }
  if (end != arguments.end()) {
    append(command, {"--"});
    command.insert(command.end(), end + 1, arguments.end());
  }
  return command;
}

}  // namespace tmpi::wrapper
