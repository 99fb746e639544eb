// DebuggerFact: what a debugger has to know of structures, offsets and values by name: tmpi is installed without debugging
// information that has types. Arrays of them, each ended by a fact without a name, are exported as tmpi_facts_*, for
// privatize/gdb.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tmpi {

struct DebuggerFact {
  char name[40] = {};
  std::int64_t value = 0;
};

template <std::size_t n>
using DebuggerFacts = std::array<DebuggerFact, n>;

}  // namespace tmpi

/// In front of a definition that is looked up in the symbol table. Not hidden: a stripped program keeps it.
#define TMPI_FOR_DEBUGGERS extern "C" __attribute__((visibility("default"), used))
/// Structures that inherit have offsets, too, with the compilers that build tmpi (-Winvalid-offsetof).
#define TMPI_OFFSET(type, member)                       \
  ::tmpi::DebuggerFact {                                \
#type "." #member, __builtin_offsetof(type, member) \
  }
#define TMPI_VALUE(value)                      \
  ::tmpi::DebuggerFact {                       \
#value, static_cast < std::int64_t>(value) \
  }
