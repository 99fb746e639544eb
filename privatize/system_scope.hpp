// SystemScope: the modules of the node process that ranks see: its executable, libc's family, what was preloaded into it
// and the libraries that ranks share, with what those need. What tmpi itself uses beside is nobody else's business.
#pragma once

#include <link.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "privatize/symbol_table.hpp"

namespace tmpi::privatize {

struct SystemModule {
  std::string name;  ///< path; empty: the executable
  std::string soname;
  std::uint64_t base = 0;
  link_map* map = nullptr;
  SymbolTable symbols;
  std::vector<std::string> needed;
  bool preloaded = false;  ///< into the node process, by LD_PRELOAD; or a sanitizer's runtime
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
  /// The modules that are visible now, in load order. Taken anew when modules have come or gone.
  static std::shared_ptr<const SystemScope> snapshot();

  /// Opens a library for all ranks. Null: dlerror() says why. Any thread.
  static void* open(const char* name, int mode);

  const std::vector<std::unique_ptr<SystemModule>>& modules() const { return modules_; }
  /// By soname or file name, or null.
  const SystemModule* module(std::string_view name) const;
  /// Its own search, because dlsym cannot ask for "this version, but an interposer will do" (AddressSanitizer's malloc).
  SystemSymbol find(const SymbolName& wanted) const;

 private:
  static std::shared_ptr<const SystemScope> take_snapshot();

  std::vector<std::unique_ptr<SystemModule>> modules_;
};

}  // namespace tmpi::privatize
