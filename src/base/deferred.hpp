// Deferred: room for an object that is made later, or never. What std::optional is but for one thing: as long as there
// is none its bytes are left as they are, where GCC clears all of an optional's.
#pragma once

#include <memory>
#include <utility>

namespace tmpi {

template <class T>
class Deferred {
 public:
  Deferred() noexcept {}
  Deferred(const Deferred&) = delete;
  Deferred& operator=(const Deferred&) = delete;
  ~Deferred() {
    if (made_) std::destroy_at(&object_);
  }

  /// Once.
  template <class... Arguments>
  T& make(Arguments&&... arguments) noexcept {
    std::construct_at(&object_, std::forward<Arguments>(arguments)...);
    made_ = true;
    return object_;
  }
  /// It has been made.
  T* operator->() noexcept { return &object_; }

 private:
  union {
    T object_;
  };
  bool made_ = false;
};

}  // namespace tmpi
