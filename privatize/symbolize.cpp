// describe_address: whose image an address lies in, and the function there. For crash reports: no allocation,
// no lock, no system call; the symbol tables were mapped when the program was loaded.
#include "privatize/arena_registry.hpp"
#include "privatize/image_set.hpp"
#include "privatize/loader.hpp"

namespace tmpi::privatize {

ImageAddress describe_address(const void* address) noexcept {
  ImageAddress result;
  const ImageLocation where = locate(address);
  if (!where) return result;
  const Object* object = where.set->object_at(where.offset);
  result.rank = where.set->rank(where.index);
  if (object == nullptr) return result;
  result.object = object->file->path().c_str();
  result.offset = where.offset - object->offset;
  const SymbolSpan symbols = object->file->debug_symbols();
  if (const Elf64_Sym* symbol = symbols.function_below(result.offset)) {
    // Beyond a sized function's end lies something without a name (a stub of the linker).
    if (symbol->st_size == 0 || result.offset < symbol->st_value + symbol->st_size) {
      result.symbol = symbols.strings.at(symbol->st_name);
      result.symbol_offset = result.offset - symbol->st_value;
    }
  }
  return result;
}

}  // namespace tmpi::privatize
