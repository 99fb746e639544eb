// Memory of the shared-memory barrier and the slot ring that is made at the first use: a communicator that
// never needs it does not pay for it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <new>

#include "base/platform.hpp"
#include "mpi.h"
#include "mpi/shm/arrivals.hpp"

namespace tmpi::mpi {

/// What cell_limit() is with few members.
inline constexpr MPI_Count kMostCell = 1024;
/// Bytes of small data a member can leave in its cell, so that it need not wait for those who read it.
/// Depends on the number of members alone, so that all of them choose alike; bounded such that all cells
/// together stay within the level-1 cache, or 64 bytes each.
inline MPI_Count cell_limit(int members) noexcept {
  constexpr MPI_Count kAll = 16384, kLeast = 64;
  return std::clamp(kAll / members / kLeast * kLeast, kLeast, kMostCell);
}
inline std::size_t cells_size(int members) noexcept {
  return static_cast<std::size_t>(members) * static_cast<std::size_t>(cell_limit(members));
}

/// An array of zeros on its own cache lines, made by whoever asks first. Any thread. Does not suspend.
template <class T>
class LazyArray {
 public:
  LazyArray() = default;
  LazyArray(const LazyArray&) = delete;
  LazyArray& operator=(const LazyArray&) = delete;
  ~LazyArray() { destroy(array_.load(std::memory_order_relaxed)); }

  T* get(std::size_t size) {
    T* array = array_.load(std::memory_order_acquire);  // pairs with the exchange in make()
    return array != nullptr ? array : make(size);
  }

 private:
  static void destroy(T* array) noexcept { ::operator delete(array, std::align_val_t(kCacheLine)); }

  [[gnu::cold, gnu::noinline]] T* make(std::size_t size) {
    T* fresh = static_cast<T*>(::operator new(size * sizeof(T), std::align_val_t(kCacheLine)));
    std::fill_n(fresh, size, T{});
    T* first = nullptr;
    // Two may come at once; the second takes the first one's array.
    if (array_.compare_exchange_strong(first, fresh, std::memory_order_acq_rel)) return fresh;
    destroy(fresh);
    return first;
  }

  std::atomic<T*> array_{nullptr};
};

/// The same for one object.
template <class T>
class LazyObject {
 public:
  LazyObject() = default;
  LazyObject(const LazyObject&) = delete;
  LazyObject& operator=(const LazyObject&) = delete;
  ~LazyObject() { delete object_.load(std::memory_order_relaxed); }

  template <class Make>
  T& get(Make&& make) {
    T* object = object_.load(std::memory_order_acquire);
    return object != nullptr ? *object : first(make);
  }

 private:
  // Out of line, so that the code of every collective stays small.
  template <class Make>
  [[gnu::cold, gnu::noinline]] T& first(Make& make) {
    T *fresh = make(), *other = nullptr;
    if (object_.compare_exchange_strong(other, fresh, std::memory_order_acq_rel)) return *fresh;
    delete fresh;
    return *other;
  }

  std::atomic<T*> object_{nullptr};
};

}  // namespace tmpi::mpi
