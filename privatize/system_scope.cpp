#include "privatize/system_scope.hpp"

#include <dlfcn.h>

#include <cstring>

namespace tmpi::privatize {
namespace {

// The dynamic linker has believed these files already; how far their segments reach is not looked up.
constexpr std::size_t kAllThereIs = std::size_t{1} << 47;

std::span<const Elf64_Dyn> dynamic_of(const link_map& map) {
  std::size_t count = 0;
  while (map.l_ld[count].d_tag != DT_NULL) ++count;
  return {map.l_ld, count};
}

}  // namespace

std::uint64_t SystemSymbol::address() const {
  const std::uint64_t value =
      symbol->st_shndx == SHN_ABS ? symbol->st_value : module->base + symbol->st_value;
  if (ELF64_ST_TYPE(symbol->st_info) != STT_GNU_IFUNC) return value;
  return reinterpret_cast<std::uint64_t (*)()>(value)();
}

SystemScope SystemScope::snapshot() {
  SystemScope scope;
  void* self = dlopen(nullptr, RTLD_LAZY);
  link_map* map = nullptr;
  if (self == nullptr || dlinfo(self, RTLD_DI_LINKMAP, &map) != 0) return scope;
  while (map->l_prev != nullptr) map = map->l_prev;
  for (; map != nullptr; map = map->l_next) {
    // The kernel's vdso is no part of any scope.
    if (map->l_ld == nullptr || std::strncmp(map->l_name, "linux-vdso", 10) == 0) continue;
    auto module = std::make_unique<SystemModule>();
    module->name = map->l_name;
    module->base = map->l_addr;
    module->map = map;
    const std::uint64_t base = map->l_addr;
    // glibc relocates the dynamic section in place, unless that is read-only.
    module->symbols = SymbolTable(dynamic_of(*map), [base](std::uint64_t value) {
      return ElfBytes(reinterpret_cast<const std::byte*>(value < base ? base + value : value), kAllThereIs);
    });
    scope.modules_.push_back(std::move(module));
  }
  dlclose(self);
  return scope;
}

SystemSymbol SystemScope::find(const SymbolName& wanted) const {
  for (const auto& module : modules_) {
    if (const Elf64_Sym* symbol = module->symbols.find(wanted)) return {module.get(), symbol};
  }
  return {};
}

}  // namespace tmpi::privatize
