#include "privatize/resolver.hpp"

namespace tmpi::privatize {

Target Resolver::resolve(const Object& from, std::uint32_t index, bool address_use) {
  const SymbolTable& symbols = from.file->symbols();
  const Elf64_Sym& symbol = symbols.symbol(index);
  const bool defined = symbol.st_shndx != SHN_UNDEF;
  const bool binds_here =
      ELF64_ST_BIND(symbol.st_info) == STB_LOCAL || ELF64_ST_VISIBILITY(symbol.st_other) != STV_DEFAULT;
  // One definition of a unique symbol serves all objects, whatever -Bsymbolic says.
  const bool symbolic = from.file->dynamic().symbolic && ELF64_ST_BIND(symbol.st_info) != STB_GNU_UNIQUE;
  if (defined && (binds_here || symbolic)) return in_image(from, symbol);
  const SymbolName wanted = symbols.reference(index);
  const Target target = scope_.find(wanted, address_use);
  if (target.kind != Target::Kind::kUndefined) return target;
  if (ELF64_ST_BIND(symbol.st_info) == STB_WEAK) return {Target::Kind::kNull};
  std::string line = wanted.name;
  if (wanted.version != nullptr) line += std::string("@") + wanted.version;
  undefined_.insert(line + " (needed by " + from.file->path() + ")");
  return target;
}

Target Resolver::resolve_beyond(const Object& from, std::uint32_t index) {
  const SymbolName wanted = from.file->symbols().reference(index);
  const Target target = scope_.find(wanted, true, &from);
  if (target.kind == Target::Kind::kUndefined) {
    undefined_.insert(std::string(wanted.name) + " (needed by " + from.file->path() + ")");
  }
  return target;
}

}  // namespace tmpi::privatize
