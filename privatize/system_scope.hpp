// SystemScope: the shared libraries of the node process (and its executable), searched as the dynamic linker
// would search them. Its own search, because dlsym cannot ask for "this version, but an interposer will do"
// (AddressSanitizer's malloc).
#pragma once

#include <link.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "privatize/symbol_table.hpp"

namespace tmpi::privatize {

struct SystemModule {
  std::string name;  ///< empty: the executable
  std::uint64_t base = 0;
  link_map* map = nullptr;
  SymbolTable symbols;
};

struct SystemSymbol {
  const SystemModule* module = nullptr;
  const Elf64_Sym* symbol = nullptr;
  explicit operator bool() const { return symbol != nullptr; }
  /// Address; an indirect function is resolved. Not for thread-local symbols.
  std::uint64_t address() const;
};

class SystemScope {
 public:
  /// The modules loaded now, in load order.
  static SystemScope snapshot();
  SystemSymbol find(const SymbolName& wanted) const;

 private:
  std::vector<std::unique_ptr<SystemModule>> modules_;
};

}  // namespace tmpi::privatize
