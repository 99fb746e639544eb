#include "msgq/facts.hpp"

#include "base/debugger_fact.hpp"

namespace tmpi::msgq {

void Facts::add(Memory& memory, Address array) {
  while (true) {
    DebuggerFact fact;
    memory.read(array, &fact, sizeof fact);
    fact.name[sizeof fact.name - 1] = '\0';
    if (fact.name[0] == '\0') return;
    values_[fact.name] = fact.value;
    array += sizeof fact;
  }
}

std::int64_t Facts::value(const char* name) {
  const auto found = values_.find(name);
  if (found != values_.end()) return found->second;
  complete_ = false;
  return 0;
}

}  // namespace tmpi::msgq
