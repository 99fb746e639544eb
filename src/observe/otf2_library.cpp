#include "observe/otf2_library.hpp"

#include <dlfcn.h>
#include <fmt/core.h>
#include <string.h>

namespace tmpi::observe {
namespace {

// Debian's name, and OTF2's own. Version 3: functions had fewer arguments before.
constexpr const char* kNames[] = {"libopen-trace-format2.so.10", "libotf2.so.10"};

}  // namespace

Result<const Otf2*> load_otf2() {
  static Otf2 functions;
  static void* library = nullptr;
  if (library != nullptr) return &functions;
  for (const char* name : kNames) {
    if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr)
    return Failure{
        fmt::format("OTF2 3 is needed ({}): install Debian's libopen-trace-format2-dev", dlerror())};
  const char* missing = nullptr;
  const auto take = [&](auto& function, const char* name) {
    void* const found = dlsym(library, name);
    if (found == nullptr) missing = name;
    memcpy(&function, &found, sizeof found);
  };
#define TMPI_OTF2_TAKE(name) take(functions.name, "OTF2_" #name);
  TMPI_OTF2_FUNCTIONS(TMPI_OTF2_TAKE)
#undef TMPI_OTF2_TAKE
  if (missing != nullptr) {
    library = nullptr;
    return Failure{fmt::format("the OTF2 of this machine has no {}: version 3 is needed", missing)};
  }
  return &functions;
}

}  // namespace tmpi::observe
