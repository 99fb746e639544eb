// Resolver: what a symbol reference of an object in an ImageSet means. Order: program, shim, private
// libraries, the loader's own functions (runtime_table.hpp), then the executable and the system libraries by
// name and version.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "privatize/object.hpp"
#include "privatize/system_scope.hpp"

namespace tmpi::privatize {

struct Target {
  enum class Kind {
    kUndefined,   ///< nobody defines it, and it is not weak
    kNull,        ///< weak and undefined
    kAbsolute,    ///< `value` is an address in the node process
    kImage,       ///< `value` is an address in the file of `object`
    kImageIfunc,  ///< likewise, of a function that returns the address
    kImageTls,    ///< `value` is an offset in the thread-local segment of `object`
    kSystemTls,   ///< `value` is an offset in the thread-local segment of `module`
  };
  Kind kind = Kind::kUndefined;
  std::uint64_t value = 0;
  std::uint64_t size = 0;
  const Object* object = nullptr;
  const SystemModule* module = nullptr;
};

class Resolver {
 public:
  /// `scope`: the objects of images, in the order in which they are searched.
  Resolver(std::vector<const Object*> scope, const SystemScope& system)
      : scope_(std::move(scope)), system_(system) {}

  /// Symbol number `index` of `from`. `address_use`: any reference but a call (see SymbolTable::find's
  /// accept_plt).
  Target resolve(const Object& from, std::uint32_t index, bool address_use);
  /// A COPY relocation asks for the definition beyond the object itself.
  Target resolve_beyond(const Object& from, std::uint32_t index);
  Target look_up(const SymbolName& wanted, const Object* skip, bool address_use) const;

  /// "symbol (needed by file)" for each undefined symbol met so far.
  const std::set<std::string>& undefined() const { return undefined_; }

 private:
  std::vector<const Object*> scope_;
  const SystemScope& system_;
  std::set<std::string> undefined_;
};

}  // namespace tmpi::privatize
