// SymbolTable: look-up by name and version in a dynamic symbol table (GNU or SysV hash), in a file mapped by
// us or in a module that the dynamic linker has loaded. Nothing in the file is believed: what lies outside of
// it is not found. A view: the memory behind it belongs to somebody else and must stay.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "privatize/elf_bytes.hpp"

namespace tmpi::privatize {

/// What a relocation asks for. `version` is null for an unversioned reference.
struct SymbolName {
  const char* name = nullptr;
  const char* version = nullptr;
};

/// A plain array of symbols with its strings (.symtab or .dynsym), for address look-ups; readable in a signal
/// handler.
struct SymbolSpan {
  std::span<const Elf64_Sym> symbols;
  ElfStrings strings;

  /// Nearest function at or below `address`, or null.
  const Elf64_Sym* function_below(std::uint64_t address) const noexcept;
};

class SymbolTable {
 public:
  /// Turns an address of the dynamic section into the bytes from there on; empty if there are none.
  using Translate = std::function<ElfBytes(std::uint64_t)>;

  SymbolTable() = default;
  SymbolTable(std::span<const Elf64_Dyn> dynamic, const Translate& translate);

  /// The definition that the dynamic linker would take from this object, or null. `accept_plt` admits an
  /// undefined function whose value is its procedure-linkage entry (function pointers of a plain PIE compare
  /// equal everywhere).
  const Elf64_Sym* find(const SymbolName& wanted, bool accept_plt = false) const;

  /// False: a damaged file refers to a symbol that is not there.
  bool has(std::uint32_t index) const { return index < symbols_.size(); }
  /// Only if has(index).
  const Elf64_Sym& symbol(std::uint32_t index) const { return symbols_[index]; }
  const char* name(const Elf64_Sym& symbol) const { return strings_.at(symbol.st_name); }
  /// Name and version that symbol number `index` refers to (or defines). Only if has(index).
  SymbolName reference(std::uint32_t index) const;
  std::size_t count() const { return count_; }
  SymbolSpan span() const { return {symbols_.first(count_), strings_}; }

 private:
  /// A .gnu.hash section.
  struct GnuHash {
    GnuHash() = default;
    explicit GnuHash(ElfBytes section);
    std::uint32_t first = 0, bloom_shift = 0;
    std::span<const std::uint64_t> bloom;
    std::span<const std::uint32_t> buckets;  // empty: no such section, or a damaged one
    std::span<const std::uint32_t> chain;    // of symbol number first + i
  };
  /// A .hash section.
  struct SysvHash {
    SysvHash() = default;
    explicit SysvHash(ElfBytes section);
    std::span<const std::uint32_t> buckets;  // empty: likewise
    std::span<const std::uint32_t> chain;
  };

  void read_definitions(ElfBytes section, std::uint64_t count);
  void read_needs(ElfBytes section, std::uint64_t count);
  void store_version(std::uint16_t index, std::uint32_t name);
  std::size_t count_symbols() const;
  std::uint16_t version_of(std::uint32_t index) const;
  const char* version_name(std::uint16_t index) const;
  bool matches(std::uint32_t index, const SymbolName& wanted, bool accept_plt,
               const Elf64_Sym** fallback) const;
  const Elf64_Sym* find_gnu(const SymbolName& wanted, bool accept_plt, const Elf64_Sym** fallback) const;
  const Elf64_Sym* find_sysv(const SymbolName& wanted, bool accept_plt, const Elf64_Sym** fallback) const;

  std::span<const Elf64_Sym> symbols_;  // up to the end of the segment: the file does not say how many
  ElfStrings strings_;
  GnuHash gnu_hash_;
  SysvHash sysv_hash_;
  std::span<const std::uint16_t> versions_;  // .gnu.version
  std::vector<const char*> version_names_;   // by version index; null: unversioned or unknown
  std::size_t count_ = 0;
};

}  // namespace tmpi::privatize
