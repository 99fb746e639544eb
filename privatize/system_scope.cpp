#include "privatize/system_scope.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>

#include "base/path.hpp"
#include "privatize/shared_libraries.hpp"

namespace tmpi::privatize {
namespace {

// The dynamic linker has believed these files already; how far their segments reach is not looked up.
constexpr std::size_t kAllThereIs = std::size_t{1} << 47;

// What ranks have opened: these modules, with what they need, are visible.
struct Opened {
  std::mutex mutex;
  std::set<const link_map*> modules;
};
Opened& opened() {
  static auto* modules = new Opened;  // ranks may still run while the process ends
  return *modules;
}

std::span<const Elf64_Dyn> dynamic_of(const link_map& map) {
  std::size_t count = 0;
  while (map.l_ld[count].d_tag != DT_NULL) ++count;
  return {map.l_ld, count};
}

/// Of an address in the dynamic section: glibc relocates the section in place, unless that is read-only.
ElfBytes bytes_of(std::uint64_t base, std::uint64_t value) {
  return {reinterpret_cast<const std::byte*>(value < base ? base + value : value), kAllThereIs};
}

std::unique_ptr<SystemModule> describe(link_map& map) {
  auto module = std::make_unique<SystemModule>();
  module->name = map.l_name;
  module->base = map.l_addr;
  module->map = &map;
  const std::uint64_t base = map.l_addr;
  const auto dynamic = dynamic_of(map);
  module->symbols = SymbolTable(dynamic, [base](std::uint64_t value) { return bytes_of(base, value); });
  const char* strings = nullptr;
  for (const Elf64_Dyn& entry : dynamic) {
    if (entry.d_tag == DT_STRTAB)
      strings = reinterpret_cast<const char*>(bytes_of(base, entry.d_un.d_ptr).data());
  }
  for (const Elf64_Dyn& entry : dynamic) {
    if (strings == nullptr) break;
    if (entry.d_tag == DT_SONAME) module->soname = strings + entry.d_un.d_val;
    if (entry.d_tag == DT_NEEDED) module->needed.emplace_back(strings + entry.d_un.d_val);
  }
  return module;
}

bool named_in_preload(const SystemModule& module) {
  const char* const preload = std::getenv("LD_PRELOAD");
  if (preload == nullptr || module.name.empty()) return false;
  constexpr const char* kSeparators = " :";
  const std::string_view value = preload;
  for (std::size_t begin = value.find_first_not_of(kSeparators); begin != std::string_view::npos;) {
    const std::size_t end = std::min(value.find_first_of(kSeparators, begin), value.size());
    if (file_of(value.substr(begin, end - begin)) == file_of(module.name)) return true;
    begin = value.find_first_not_of(kSeparators, end);
  }
  return false;
}

/// Visible whatever ranks have opened.
bool is_everybodys(const SystemModule& module) {
  return module.name.empty() || module.preloaded || is_libcs(file_of(module.name));
}

}  // namespace

std::uint64_t SystemSymbol::address() const {
  const std::uint64_t value =
      symbol->st_shndx == SHN_ABS ? symbol->st_value : module->base + symbol->st_value;
  if (ELF64_ST_TYPE(symbol->st_info) != STT_GNU_IFUNC) return value;
  return reinterpret_cast<std::uint64_t (*)()>(value)();
}

void* SystemScope::open(const char* name, int mode) {
  void* const handle = dlopen(name, mode);
  link_map* map = nullptr;
  if (handle != nullptr && dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0) {
    const std::lock_guard guard(opened().mutex);
    opened().modules.insert(map);
  }
  return handle;
}

namespace {

/// How many modules the process has loaded and unloaded, and ranks have opened: while that stays, so does what is visible.
struct Changes {
  unsigned long long loaded = 0, unloaded = 0;
  std::size_t opened = 0;
  bool operator==(const Changes&) const = default;
};

Changes changes_now() {
  Changes now;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        static_cast<Changes*>(data)->loaded = info->dlpi_adds;
        static_cast<Changes*>(data)->unloaded = info->dlpi_subs;
        return 1;
      },
      &now);
  const std::lock_guard guard(opened().mutex);
  now.opened = opened().modules.size();
  return now;
}

}  // namespace

std::shared_ptr<const SystemScope> SystemScope::snapshot() {
  struct Latest {
    std::mutex mutex;
    Changes changes;
    std::shared_ptr<const SystemScope> scope;
  };
  static auto* const latest = new Latest;  // ranks may still run while the process ends
  const std::lock_guard guard(latest->mutex);
  const Changes now = changes_now();
  if (latest->scope == nullptr || latest->changes != now) {
    latest->scope = take_snapshot();
    latest->changes = now;
  }
  return latest->scope;
}

std::shared_ptr<const SystemScope> SystemScope::take_snapshot() {
  auto scope = std::make_shared<SystemScope>();
  void* self = dlopen(nullptr, RTLD_LAZY);
  link_map* map = nullptr;
  if (self == nullptr || dlinfo(self, RTLD_DI_LINKMAP, &map) != 0) return scope;
  while (map->l_prev != nullptr) map = map->l_prev;
  std::vector<std::unique_ptr<SystemModule>> all;
  for (; map != nullptr; map = map->l_next) {
    // The kernel's vdso is no part of any scope.
    if (map->l_ld != nullptr && std::strncmp(map->l_name, "linux-vdso", 10) != 0)
      all.push_back(describe(*map));
  }
  dlclose(self);
  std::set<std::string_view> visible;  // sonames and file names that something visible needs
  const std::lock_guard guard(opened().mutex);
  const auto is_visible = [&](const SystemModule& module) {
    return is_everybodys(module) || opened().modules.contains(module.map) ||
           visible.contains(module.soname) || visible.contains(file_of(module.name));
  };
  std::vector<bool> taken(all.size(), false);
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      SystemModule& module = *all[i];
      module.preloaded = named_in_preload(module) || is_sanitizer(file_of(module.name));
      if (taken[i] || !is_visible(module)) continue;
      taken[i] = more = true;
      if (!module.name.empty()) visible.insert(module.needed.begin(), module.needed.end());
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (taken[i]) scope->modules_.push_back(std::move(all[i]));
  }
  return scope;
}

const SystemModule* SystemScope::module(std::string_view name) const {
  const std::string_view file = file_of(name);
  for (const auto& module : modules_) {
    if (module->soname == file || (!module->name.empty() && file_of(module->name) == file))
      return module.get();
  }
  return nullptr;
}

SystemSymbol SystemScope::find(const SymbolName& wanted) const {
  for (const auto& module : modules_) {
    if (const Elf64_Sym* symbol = module->symbols.find(wanted)) return {module.get(), symbol};
  }
  return {};
}

}  // namespace tmpi::privatize
