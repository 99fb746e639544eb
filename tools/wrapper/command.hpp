// The compiler's command line that a wrapper's command line turns into.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "arguments.hpp"
#include "installation.hpp"
#include "language.hpp"

namespace tmpi::wrapper {

using Words = std::vector<std::string>;

/// A compiler and what it is for.
struct Compiler {
  const Language& language;
  Words words;  ///< the command, with options that belong to it
};

/// Options for the preprocessor, put before the user's, so that no other MPI's mpi.h (or module) on the user's
/// path is found first.
Words preprocess_options(const Compiler& compiler, const Installation& installation);

/// Options for `compiler` that the user's own may take back; where they would cost something there are none.
Words careful_options(const Compiler& compiler);

/// Options for `compiler` that make thread-local variables of a program fast in loops; the user's own may take them
/// back.
Words thread_local_options(const Words& compiler, const Arguments& what);

/// Whether a program is linked that is to have clang's library of a sanitizer, whose directory clang does not note.
bool needs_shared_sanitizer(const Compiler& compiler, const Arguments& what);

/// Options by which `compiler` links a program with the shared library of a sanitizer.
Words sanitizer_options(const Compiler& compiler, const Arguments& what);

/// Failure: `compiler` would link a program without the sanitizer that the user asks for, and say nothing.
Result<void> check_sanitizers(const Compiler& compiler, const Arguments& what);

/// Options for the compiler, put behind the user's: they take back -fPIE, whose thread-locals no second rank
/// could have.
Words compile_options(const Compiler& compiler);

/// Options that find and load libtmpi.so: what any program or library that calls MPI is linked with. Fortran's
/// procedures come before it.
Words library_options(const Language& language, const Installation& installation);

/// Options by which `compiler`, called by itself, links a program as tmpicc does. gcc takes them for a library
/// (-shared) as well, which they then link as tmpicc does too; for other compilers they fit programs only.
Words link_options(const Compiler& compiler, const Installation& installation);

/// The whole command: `compiler` with the user's `arguments`, among them tmpi's. `what` is what examine()
/// said of `arguments`.
Words full_command(const Compiler& compiler, const Installation& installation, const Arguments& what,
                   const Words& arguments);

}  // namespace tmpi::wrapper
