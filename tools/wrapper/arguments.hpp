// What a compiler's command line asks for: enough to know which options of tmpi belong to it.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace tmpi::wrapper {

enum class Action {
  kAsk,          ///< no input: --version, -v, -print-*, nothing at all
  kCompile,      ///< stops before the linker: -E -S -c -M -MM -fsyntax-only, precompiled headers
  kLinkProgram,  ///< an executable
  kLinkShared,   ///< a shared library of the user's (-shared)
  kLinkPartial,  ///< one object file out of several (-r)
  kLinkBare,     ///< the user brings start-up files of his own (-nostdlib, -nostartfiles)
};

struct Arguments {
  Action action = Action::kAsk;
  bool has_sources = false;  ///< something to preprocess, so include directories apply
  bool compiles = false;     ///< some of it is not assembler, so options of the compiler proper apply
  bool for_library = false;  ///< the user says that the code is a shared library's (-fPIC, -shared)
  std::vector<std::string> sanitizers;  ///< of -fsanitize=
  bool flushes_denormals = false;  ///< -ffast-math and the like: the program starts with denormals as zero
};

/// Looks at a compiler's arguments, response files expanded. Fails for what cannot become a tmpi program
/// (-static, -no-pie, ...) with a sentence that says what to do instead; such options are not refused where
/// they have no effect (-c).
Result<Arguments> examine(const std::vector<std::string>& arguments);

}  // namespace tmpi::wrapper
