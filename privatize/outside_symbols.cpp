#include "privatize/outside_symbols.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace tmpi::privatize {
namespace {

struct OutsideSymbols {
  explicit OutsideSymbols(const Scope& scope);
  void add(const Scope& scope, const SystemModule& module);
  void make_hash();

  std::vector<Elf64_Sym> symbols{1};
  std::string strings = std::string(1, '\0');
  std::vector<Elf64_Word> hash;  ///< of kind DT_HASH
  std::unordered_set<std::string_view> names;
  std::vector<Elf64_Dyn> dynamic;
  link_map map{};
};

void OutsideSymbols::add(const Scope& scope, const SystemModule& module) {
  const SymbolTable& table = module.symbols;
  for (std::uint32_t i = 1; i < table.count(); ++i) {
    const Elf64_Sym& symbol = table.symbol(i);
    const char* const name = table.name(symbol);
    if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) == STT_TLS ||
        ELF64_ST_BIND(symbol.st_info) == STB_LOCAL || *name == '\0' || !names.insert(name).second)
      continue;
    const Target target = scope.find_outside({name, nullptr});
    if (target.kind != Target::Kind::kAbsolute) continue;  // the shim's, which is an object of the rank's
    Elf64_Sym& added = symbols.emplace_back(symbol);
    added.st_name = static_cast<Elf64_Word>(strings.size());
    added.st_shndx = SHN_ABS;
    added.st_value = target.value;
    if (ELF64_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC) added.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    strings.append(name).push_back('\0');
  }
}

std::uint32_t hash_of(const char* name) {
  std::uint32_t hash = 0;
  for (; *name != '\0'; ++name) {
    hash = (hash << 4) + static_cast<unsigned char>(*name);
    const std::uint32_t high = hash & 0xf0000000;
    hash = (hash ^ high >> 24) & ~high;
  }
  return hash;
}

void OutsideSymbols::make_hash() {
  const std::size_t count = symbols.size();
  hash.assign(2 + count + count, 0);
  hash[0] = hash[1] = static_cast<Elf64_Word>(count);
  for (std::size_t i = 1; i < count; ++i) {
    Elf64_Word& bucket = hash[2 + hash_of(strings.data() + symbols[i].st_name) % count];
    hash[2 + count + i] = bucket;
    bucket = static_cast<Elf64_Word>(i);
  }
}

OutsideSymbols::OutsideSymbols(const Scope& scope) {
  for (const auto& module : scope.system().modules()) add(scope, *module);
  make_hash();
  const auto entry = [&](std::int64_t tag, const void* at) {
    dynamic.push_back({tag, {reinterpret_cast<std::uint64_t>(at)}});
  };
  entry(DT_HASH, hash.data());
  entry(DT_SYMTAB, symbols.data());
  entry(DT_STRTAB, strings.data());
  dynamic.push_back({DT_STRSZ, {strings.size()}});
  dynamic.push_back({DT_SYMENT, {sizeof(Elf64_Sym)}});
  dynamic.push_back({DT_NULL, {0}});
  map.l_name = const_cast<char*>("tmpi-node");
  map.l_ld = dynamic.data();
}

}  // namespace

link_map* outside_symbols(const Scope& scope) {
  static auto* const symbols = new OutsideSymbols(scope);  // ranks may still run while the process ends
  return &symbols->map;
}

}  // namespace tmpi::privatize
