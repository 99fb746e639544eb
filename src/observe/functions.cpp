#include "observe/functions.hpp"

#include <array>
#include <cstring>
#include <iterator>
#include <string_view>

#include "mpix.h"
#include "observe/recorder.hpp"
#include "observe/recording.hpp"

// Weak: the table lists all functions of MPI, and those that this library does not have are null.
#define TMPI_RECORDED(name, shape) extern "C" decltype(P##name) P##name __attribute__((weak));
#include "observe/recorded_functions.inc"
#undef TMPI_RECORDED
extern "C" decltype(PMPI_Pcontrol) PMPI_Pcontrol __attribute__((weak));

namespace tmpi::observe {
namespace {

enum : std::uint16_t {
#define TMPI_RECORDED(name, shape) kIndexOf_##name,
#include "observe/recorded_functions.inc"
#undef TMPI_RECORDED
  kIndexOf_MPIX_Yield
};

using AnyFunction = void (*)();

struct Function {
  const char* name;
  AnyFunction library;
  AnyFunction recorder;
  void (*go_on_to)(const void* version) noexcept;
};

template <class Pointer>
AnyFunction any(Pointer function) {
  return reinterpret_cast<AnyFunction>(function);
}

constexpr Shape kShapes[] = {
#define TMPI_RECORDED(name, shape) Shape shape,
#include "observe/recorded_functions.inc"
#undef TMPI_RECORDED
    Shape{}};

const Function kFunctions[] = {
#define TMPI_RECORDED(name, shape)                                                 \
  {#name, any(&P##name), any(&Recorder<&P##name, kIndexOf_##name, kShapes>::call), \
   &Recorder<&P##name, kIndexOf_##name, kShapes>::go_on_to},
#include "observe/recorded_functions.inc"
#undef TMPI_RECORDED
    {"MPIX_Yield", any(&PMPIX_Yield), any(&Recorder<&PMPIX_Yield, kIndexOf_MPIX_Yield, kShapes>::call),
     &Recorder<&PMPIX_Yield, kIndexOf_MPIX_Yield, kShapes>::go_on_to},
};

/// MPI report, 15.2.4: level 0 switches profiling off, any other on.
int pcontrol(const int level, ...) {
  Recording::instance()->pause(level == 0);
  return PMPI_Pcontrol(level);
}

}  // namespace

const char* function_name(std::uint16_t function) noexcept {
  return function < std::size(kFunctions) ? kFunctions[function].name : "?";
}

CallClass class_of_function(std::uint16_t function) noexcept {
  static const auto classes = [] {
    std::array<CallClass, std::size(kFunctions)> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = class_of(kFunctions[i].name);
    return all;
  }();
  return function < classes.size() ? classes[function] : CallClass::kOther;
}

int collective_of_function(std::uint16_t function) noexcept {
  static const auto collectives = [] {
    std::array<std::int8_t, std::size(kFunctions)> all{};
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = static_cast<std::int8_t>(collective_of(kFunctions[i].name));
    return all;
  }();
  return function < collectives.size() ? collectives[function] : -1;
}

const void* recorder_of(const char* name) noexcept {
  std::string_view wanted = name;
  if (wanted.starts_with("PMPI")) wanted.remove_prefix(1);
  if (!wanted.starts_with("MPI")) return nullptr;
  if (wanted == "MPI_Pcontrol" && &PMPI_Pcontrol != nullptr) return reinterpret_cast<const void*>(&pcontrol);
  for (const Function& function : kFunctions) {
    if (wanted == function.name)
      return function.library == nullptr ? nullptr : reinterpret_cast<const void*>(function.recorder);
  }
  return nullptr;
}

void go_on_to(const void* (*version_of)(const char* name)) noexcept {
  for (const Function& function : kFunctions) {
    if (const void* version = version_of(function.name)) function.go_on_to(version);
  }
}

}  // namespace tmpi::observe
