#include "privatize/resolver.hpp"

#include "privatize/runtime_table.hpp"

namespace tmpi::privatize {
namespace {

Target in_image(const Object& object, const Elf64_Sym& symbol) {
  Target target{Target::Kind::kImage, symbol.st_value, symbol.st_size, &object, nullptr};
  const auto type = ELF64_ST_TYPE(symbol.st_info);
  if (type == STT_TLS) target.kind = Target::Kind::kImageTls;
  if (type == STT_GNU_IFUNC) target.kind = Target::Kind::kImageIfunc;
  if (symbol.st_shndx == SHN_ABS) target.kind = Target::Kind::kAbsolute;
  return target;
}

Target in_system(const SystemSymbol& found) {
  if (ELF64_ST_TYPE(found.symbol->st_info) == STT_TLS) {
    return {Target::Kind::kSystemTls, found.symbol->st_value, found.symbol->st_size, nullptr, found.module};
  }
  return {Target::Kind::kAbsolute, found.address(), found.symbol->st_size, nullptr, found.module};
}

}  // namespace

Target Resolver::look_up(const SymbolName& wanted, const Object* skip, bool address_use) const {
  for (const Object* object : scope_) {
    if (object == skip) continue;
    if (const Elf64_Sym* symbol = object->file->symbols().find(wanted, address_use))
      return in_image(*object, *symbol);
  }
  if (const void* own = runtime_function(wanted.name)) {
    return {Target::Kind::kAbsolute, reinterpret_cast<std::uint64_t>(own), 0, nullptr, nullptr};
  }
  if (const SystemSymbol found = system_.find(wanted)) return in_system(found);
  return {};
}

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
  const Target target = look_up(wanted, nullptr, address_use);
  if (target.kind != Target::Kind::kUndefined) return target;
  if (ELF64_ST_BIND(symbol.st_info) == STB_WEAK) return {Target::Kind::kNull};
  std::string line = wanted.name;
  if (wanted.version != nullptr) line += std::string("@") + wanted.version;
  undefined_.insert(line + " (needed by " + from.file->path() + ")");
  return target;
}

Target Resolver::resolve_beyond(const Object& from, std::uint32_t index) {
  const SymbolName wanted = from.file->symbols().reference(index);
  const Target target = look_up(wanted, &from, true);
  if (target.kind == Target::Kind::kUndefined) {
    undefined_.insert(std::string(wanted.name) + " (needed by " + from.file->path() + ")");
  }
  return target;
}

}  // namespace tmpi::privatize
