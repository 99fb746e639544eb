#include "observe/call_site.hpp"

#include <fmt/core.h>

namespace tmpi::observe {
namespace {

std::string base_name(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

std::string CallSite::label() const {
  if (!file.empty()) return fmt::format("{}:{}", base_name(file), line);
  if (!caller.empty()) return fmt::format("{} ({})", caller, base_name(object));
  return fmt::format("{}+{:#x}", object.empty() ? "?" : base_name(object), offset);
}

SiteIdentity identity(const CallSite& site) {
  return {site.file, site.line, site.caller, site.file.empty() ? site.offset : 0};
}

}  // namespace tmpi::observe
