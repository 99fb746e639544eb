// The languages the compiler wrappers speak: one row per wrapper.
#pragma once

#include <span>
#include <string_view>

namespace tmpi::wrapper {

struct Language {
  std::string_view wrapper;                   ///< name of the program
  std::span<const std::string_view> aliases;  ///< other names it is called by
  std::string_view compiler;                  ///< the compiler if nobody asks for another
  const char* variable;                       ///< environment variable that names another compiler
  std::span<const std::string_view> options;  ///< options that do: "-cc=" in -cc=clang
  bool fortran = false;                       ///< has modules, and a library of its own
};

/// The language of the wrapper called `program` (a path or a name), null if there is none of that name.
const Language* language_of(std::string_view program);

}  // namespace tmpi::wrapper
