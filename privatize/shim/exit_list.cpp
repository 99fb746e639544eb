#include "privatize/shim/exit_list.hpp"

#include <stdlib.h>

namespace tmpi::shim {

bool ExitList::push(const ExitHandler& handler) noexcept {
  if (count_ >= kFirst + capacity_) {
    const std::size_t capacity = capacity_ == 0 ? 8 : 2 * capacity_;
    auto* grown = static_cast<ExitHandler*>(realloc(more_, capacity * sizeof(ExitHandler)));
    if (grown == nullptr) return false;
    more_ = grown;
    capacity_ = capacity;
  }
  at(count_++) = handler;
  return true;
}

bool ExitList::pop(const void* object, ExitHandler* handler) noexcept {
  for (std::size_t i = count_; i-- > 0;) {
    if (object != nullptr && at(i).object != object) continue;
    *handler = at(i);
    for (--count_; i < count_; ++i) at(i) = at(i + 1);
    return true;
  }
  return false;
}

}  // namespace tmpi::shim
