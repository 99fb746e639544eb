#include "privatize/thrower.hpp"

#include <dlfcn.h>
#include <unwind.h>

#include <cstdint>
#include <cstring>

#include "privatize/loader.hpp"

// The linker's: first and last address of this executable (or library).
extern "C" const char __ehdr_start;
extern "C" const char etext;

namespace tmpi::privatize {
namespace {

enum class Owner { kTmpi, kProgram, kSystem };

Owner owner_of(std::uintptr_t address) noexcept {
  const ImageAddress image = describe_address(reinterpret_cast<const void*>(address));
  if (image.object != nullptr)
    return std::strstr(image.object, "libtmpi-shim.so") != nullptr ? Owner::kTmpi : Owner::kProgram;
  const auto begin = reinterpret_cast<std::uintptr_t>(&__ehdr_start);
  const auto end = reinterpret_cast<std::uintptr_t>(&etext);
  return address >= begin && address < end ? Owner::kTmpi : Owner::kSystem;
}

// The stack, innermost first: the terminate handler (tmpi's), the C++ library's way from the throw to it, and
// who threw, through whatever system library.
struct Search {
  bool below_handler = false;
  Owner found = Owner::kSystem;
};

_Unwind_Reason_Code look(_Unwind_Context* context, void* argument) {
  auto& search = *static_cast<Search*>(argument);
  const Owner owner = owner_of(_Unwind_GetIP(context) - 1);  // a return address may lie behind its function
  if (!search.below_handler) {
    search.below_handler = owner == Owner::kSystem;
    return _URC_NO_REASON;
  }
  search.found = owner;
  return owner == Owner::kSystem ? _URC_NO_REASON : _URC_END_OF_STACK;
}

}  // namespace

bool thrown_by_tmpi() noexcept {
  Search search;
  _Unwind_Backtrace(&look, &search);
  return search.found == Owner::kTmpi;
}

}  // namespace tmpi::privatize
