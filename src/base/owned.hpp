// Owned: a std::unique_ptr to an object of a type that is complete only where the object is made. With it an
// object of a lower room owns what a higher one hangs on it, and need not know what that is.
#pragma once

#include <memory>
#include <utility>

namespace tmpi {

template <class T>
struct ErasedDelete {
  constexpr ErasedDelete() noexcept = default;
  // Where a unique_ptr of the complete type is made.
  ErasedDelete(std::default_delete<T>) noexcept : destroy([](T* object) noexcept { delete object; }) {}
  void operator()(T* object) const noexcept { destroy(object); }
  void (*destroy)(T*) noexcept = nullptr;
};

/// Assigned from std::make_unique<T>().
template <class T>
using Owned = std::unique_ptr<T, ErasedDelete<T>>;

}  // namespace tmpi
