// Resolver: what a symbol reference of an object in an ImageSet means, by its scope (scope.hpp).
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "privatize/scope.hpp"

namespace tmpi::privatize {

class Resolver {
 public:
  explicit Resolver(const Scope& scope) : scope_(scope) {}

  /// Symbol number `index` of `from`. `address_use`: any reference but a call (see SymbolTable::find's
  /// accept_plt).
  Target resolve(const Object& from, std::uint32_t index, bool address_use);
  /// A COPY relocation asks for the definition beyond the object itself.
  Target resolve_beyond(const Object& from, std::uint32_t index);

  /// "symbol (needed by file)" for each undefined symbol met so far.
  const std::set<std::string>& undefined() const { return undefined_; }

 private:
  const Scope& scope_;
  std::set<std::string> undefined_;
};

}  // namespace tmpi::privatize
