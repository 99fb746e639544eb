// A table of functions of the loader, by the names that images refer to.
#pragma once

#include <cstring>
#include <span>

namespace tmpi::privatize {

struct FunctionEntry {
  const char* name;
  const void* address;
};

template <class Function>
const void* address_of(Function* function) {
  return reinterpret_cast<const void*>(function);
}

/// Null: there is none of this name.
inline const void* find_function(std::span<const FunctionEntry> table, const char* name) noexcept {
  for (const FunctionEntry& entry : table) {
    if (std::strcmp(entry.name, name) == 0) return entry.address;
  }
  return nullptr;
}

}  // namespace tmpi::privatize
