#include "installation.hpp"

#include <array>
#include <filesystem>
#include <system_error>

namespace tmpi::wrapper {

namespace fs = std::filesystem;

// TMPI_LIBRARY_FROM_BIN and TMPI_INCLUDE_FROM_BIN: paths from the directory of programs to the others, as
// installed (CMake).
Result<Installation> find_installation() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error) return Failure{"cannot find out where tmpi is installed: /proc/self/exe: " + error.message()};
  const fs::path bin = self.parent_path();
  for (const char* library : std::array{TMPI_LIBRARY_FROM_BIN, "../lib"}) {
    const fs::path start = (bin / library / "tmpi" / "start.o").lexically_normal();
    if (!fs::exists(start, error)) continue;
    return Installation{.include = (bin / TMPI_INCLUDE_FROM_BIN).lexically_normal(),
                        .library = (bin / library).lexically_normal(),
                        .start = start};
  }
  return Failure{"the rest of tmpi is not where it should be: there is no " +
                 (bin / TMPI_LIBRARY_FROM_BIN / "tmpi/start.o").lexically_normal().string() +
                 ". If you copied this program alone, install all of tmpi or make a symbolic link instead."};
}

std::string module_directory(const Installation& installation, const std::string& compiler) {
  const fs::path modules = fs::path(installation.library) / "tmpi" / "modules";
  const fs::path own = modules / fs::path(compiler).filename();
  std::error_code error;
  return fs::is_directory(own, error) ? own : modules;
}

}  // namespace tmpi::wrapper
