// SymbolTable: look-up by name and version in a dynamic symbol table (GNU or SysV hash), in a file mapped by
// us or in a module that the dynamic linker has loaded. A view: the memory behind it belongs to somebody else
// and must stay.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace tmpi::privatize {

/// What a relocation asks for. `version` is null for an unversioned reference.
struct SymbolName {
  const char* name = nullptr;
  const char* version = nullptr;
};

/// A plain array of symbols with its strings (.symtab or .dynsym), for address look-ups; readable in a signal
/// handler.
struct SymbolSpan {
  const Elf64_Sym* symbols = nullptr;
  std::size_t count = 0;
  const char* strings = nullptr;
  std::size_t strings_size = 0;

  /// Nearest function at or below `address`, or null.
  const Elf64_Sym* function_below(std::uint64_t address) const noexcept;
};

class SymbolTable {
 public:
  /// Turns an address of the dynamic section into a pointer; null if it is not mapped.
  using Translate = std::function<const void*(std::uint64_t)>;

  SymbolTable() = default;
  SymbolTable(const Elf64_Dyn* dynamic, const Translate& translate);

  /// The definition that the dynamic linker would take from this object, or null. `accept_plt` admits an
  /// undefined function whose value is its procedure-linkage entry (function pointers of a plain PIE compare
  /// equal everywhere).
  const Elf64_Sym* find(const SymbolName& wanted, bool accept_plt = false) const;

  const Elf64_Sym& symbol(std::uint32_t index) const { return symbols_[index]; }
  const char* name(const Elf64_Sym& symbol) const { return strings_ + symbol.st_name; }
  /// Name and version that symbol number `index` refers to (or defines).
  SymbolName reference(std::uint32_t index) const;
  std::size_t count() const { return count_; }
  SymbolSpan span() const { return {symbols_, count_, strings_, strings_size_}; }

 private:
  void read_versions(const void* definitions, std::uint64_t definition_count, const void* needs,
                     std::uint64_t need_count);
  void count_symbols();
  const char* version_name(std::uint16_t index) const;
  bool matches(std::uint32_t index, const SymbolName& wanted, bool accept_plt,
               const Elf64_Sym** fallback) const;
  const Elf64_Sym* find_gnu(const SymbolName& wanted, bool accept_plt, const Elf64_Sym** fallback) const;
  const Elf64_Sym* find_sysv(const SymbolName& wanted, bool accept_plt, const Elf64_Sym** fallback) const;

  const Elf64_Sym* symbols_ = nullptr;
  const char* strings_ = nullptr;
  std::size_t strings_size_ = 0;
  const std::uint32_t* gnu_hash_ = nullptr;
  const std::uint32_t* sysv_hash_ = nullptr;
  const std::uint16_t* versions_ = nullptr;  // .gnu.version
  std::vector<const char*> version_names_;   // by version index; null: unversioned or unknown
  std::size_t count_ = 0;
};

}  // namespace tmpi::privatize
