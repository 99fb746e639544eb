// Scope: where a symbol is searched for code in images, in the order of a process: the program, LD_PRELOAD, its
// libraries breadth first, whether they are a rank's own or shared. Where a process has libc, a rank has the shim, the
// loader's own functions (runtime_table.hpp) and then libc; where it has an MPI library, the node process's executable.
// Constant once built; any thread.
#pragma once

#include <cstdint>
#include <memory>
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

/// The symbol as it is defined in `object`.
Target in_image(const Object& object, const Elf64_Sym& symbol);

class Scope {
 public:
  explicit Scope(std::shared_ptr<const SystemScope> system) : system_(std::move(system)) {}

  // In the order in which they are searched; what is there already stays where it is.
  void add(const Object& object);
  void add(const Scope& other);
  /// A shared library, by its name in DT_NEEDED. Unknown: nothing.
  void add_shared(const std::string& name);
  /// `shim` may be null. With something preloaded into the node process it comes where that would: before libraries.
  void add_libc(const Object* shim);
  void add_runtime();
  /// What is visible of the node process, behind everything.
  void add_rest();

  /// `skip`: an object that is passed over. `address_use`: see SymbolTable::find's accept_plt.
  Target find(const SymbolName& wanted, bool address_use = false, const Object* skip = nullptr) const;
  /// Only behind `object`, as RTLD_NEXT has it.
  Target find_behind(const Object& object, const SymbolName& wanted) const;

  /// From where a process has libc on, without images but the shim; MPI's functions, too.
  Target find_outside(const SymbolName& wanted) const;

  const SystemScope& system() const { return *system_; }

 private:
  struct Place {
    enum class Kind { kObject, kShared, kLibc, kRuntime } kind;
    const Object* object;        // kLibc: the shim, or null
    const SystemModule* module;  // kShared
    bool operator==(const Place&) const = default;
  };
  void add(const Place& place);
  Target find_from(std::size_t first, const SymbolName& wanted, bool address_use, const Object* skip) const;
  Target find_at(const Place& place, const SymbolName& wanted, bool address_use, const Object* skip) const;
  Target find_in_libc(const Object* shim, const SymbolName& wanted, bool address_use) const;

  std::shared_ptr<const SystemScope> system_;
  std::vector<std::shared_ptr<const SystemScope>> others_;  // modules of which are in places_
  std::vector<Place> places_;
};

}  // namespace tmpi::privatize
