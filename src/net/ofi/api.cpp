#include "net/ofi/api.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tmpi::net::ofi {
namespace {

constexpr char kLibrary[] = "libfabric.so.1";
// Memory is described as this transport expects it (FI_MR_ENDPOINT and its likes) since then.
constexpr std::uint32_t kOldest = FI_VERSION(1, 9);

struct Loaded {
  Api api{};
  std::string why;  // it cannot be used
};

Loaded load() {
  Loaded loaded;
  void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    loaded.why = fmt::format(
        "--net ofi needs {}, which cannot be loaded ({}): install Debian's libfabric1, or use --net tcp",
        kLibrary, dlerror());
    return loaded;
  }
  // By the versions of the symbols that a program gets which is linked with these headers: a newer library may have
  // others beside them, with larger structures.
  const auto take = [&](auto& function, const char* name, const char* version) {
    void* const found = dlvsym(library, name, version);
    if (found == nullptr && loaded.why.empty())
      loaded.why = fmt::format("--net ofi: {} is too old or too new: it has no {} of {}; use --net tcp",
                               kLibrary, name, version);
    std::memcpy(&function, &found, sizeof found);
  };
  Api& api = loaded.api;
  take(api.getinfo, "fi_getinfo", "FABRIC_1.3");
  take(api.freeinfo, "fi_freeinfo", "FABRIC_1.3");
  take(api.dupinfo, "fi_dupinfo", "FABRIC_1.3");
  take(api.fabric, "fi_fabric", "FABRIC_1.1");
  take(api.strerror, "fi_strerror", "FABRIC_1.0");
  take(api.version, "fi_version", "FABRIC_1.0");
  if (loaded.why.empty() && FI_VERSION_LT(api.version(), kOldest))
    loaded.why = fmt::format("--net ofi: {} is version {}, older than 1.9; use --net tcp", kLibrary,
                             api.version_text());
  return loaded;
}

}  // namespace

std::uint32_t Api::asked_version() const noexcept {
  return std::min<std::uint32_t>(version(), FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION));
}

std::string Api::version_text() const {
  return fmt::format("{}.{}", FI_MAJOR(version()), FI_MINOR(version()));
}

Result<const Api*> system_api() {
  static const Loaded loaded = load();
  if (!loaded.why.empty()) return Failure{loaded.why};
  return &loaded.api;
}

}  // namespace tmpi::net::ofi
