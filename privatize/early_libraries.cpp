#include "privatize/early_libraries.hpp"

#include <dlfcn.h>

#include "base/path.hpp"
#include "privatize/elf_file.hpp"
#include "privatize/library_search.hpp"
#include "privatize/shared_libraries.hpp"

namespace tmpi::privatize {
namespace {

bool is_here(const std::string& name) {
  void* const handle = dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (handle != nullptr) dlclose(handle);
  return handle != nullptr;
}

}  // namespace

std::vector<std::string> missing_early_libraries(const std::string& program, const std::string& search_path) {
  std::vector<std::string> missing;
  const auto file = ElfFile::open(program, ElfFile::Role::kProgram);
  if (!file) return missing;
  for (const std::string& name : (*file)->dynamic().needed) {
    if (!is_early_sanitizer(file_of(name)) || is_here(name)) continue;
    const std::string path = find_library(name, search_context(**file, search_path));
    missing.push_back(path.empty() ? name : path);
  }
  return missing;
}

}  // namespace tmpi::privatize
