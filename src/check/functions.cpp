#include "check/functions.hpp"

#include <iterator>
#include <string_view>

#include "base/words.hpp"
#include "check/checked_call.hpp"
#include "mpi.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // what MPI 3.0 has removed is checked, too

// Weak: the table lists all functions of MPI, and those that this library does not have are null.
#define TMPI_CHECKED(name, function) extern "C" decltype(P##name) P##name __attribute__((weak));
#include "check/checked_functions.inc"
#undef TMPI_CHECKED

namespace tmpi::check {
namespace {

enum : std::uint16_t {
#define TMPI_CHECKED(name, function) kIndexOf_##name,
#include "check/checked_functions.inc"
#undef TMPI_CHECKED
};

constexpr Function kFunctions[] = {
#define TMPI_CHECKED(name, function) function,
#include "check/checked_functions.inc"
#undef TMPI_CHECKED
};

template <auto kFunction, std::uint16_t kIndex>
struct Checked;

template <class... Arguments, int (*kFunction)(Arguments...), std::uint16_t kIndex>
struct Checked<kFunction, kIndex> {
  static inline int (*next)(Arguments...) = kFunction;  // or what stands before it

  /// Never inlined and never left by a jump, so that its frame has the program's call above it.
  [[gnu::noinline]] static int call(Arguments... arguments) {
    const Words<sizeof...(Arguments)> words = {word(arguments)...};
    CheckedCall check(kFunctions[kIndex], words.data(), __builtin_frame_address(0));
    const int result = next(arguments...);
    check.returned(result);
    return result;
  }
  static void go_on_to(const void* recorder) noexcept {
    next = reinterpret_cast<int (*)(Arguments...)>(const_cast<void*>(recorder));
  }
};

using AnyFunction = void (*)();

struct Wrapper {
  AnyFunction library;
  AnyFunction checked;
  void (*go_on_to)(const void* recorder) noexcept;
};

template <class Pointer>
AnyFunction any(Pointer function) {
  return reinterpret_cast<AnyFunction>(function);
}

const Wrapper kWrappers[] = {
#define TMPI_CHECKED(name, function)                              \
  {any(&P##name), any(&Checked<&P##name, kIndexOf_##name>::call), \
   &Checked<&P##name, kIndexOf_##name>::go_on_to},
#include "check/checked_functions.inc"
#undef TMPI_CHECKED
};

}  // namespace

const void* checker_of(const char* name) noexcept {
  std::string_view wanted = name;
  if (wanted.starts_with("PMPI")) wanted.remove_prefix(1);
  if (!wanted.starts_with("MPI_")) return nullptr;
  for (std::size_t i = 0; i < std::size(kFunctions); ++i) {
    if (wanted == kFunctions[i].name)
      return kWrappers[i].library == nullptr ? nullptr : reinterpret_cast<const void*>(kWrappers[i].checked);
  }
  return nullptr;
}

void go_on_to(const void* (*version_of)(const char* name)) noexcept {
  for (std::size_t i = 0; i < std::size(kFunctions); ++i) {
    if (const void* version = version_of(kFunctions[i].name)) kWrappers[i].go_on_to(version);
  }
}

}  // namespace tmpi::check
