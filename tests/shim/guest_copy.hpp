// GuestCopy: one "rank": a copy of the guest library with its own data, sharing libc with all others and with
// the test.
#pragma once

#include <dlfcn.h>

#include <string>
#include <type_traits>

#include "fake_node.hpp"

class GuestCopy {
 public:
  /// Loads a fresh copy, which starts as the next free rank, or as rank 0 again.
  explicit GuestCopy(bool as_rank_zero = false);

  int rank() const { return rank_; }
  std::string out() const { return fake_node::take_output(rank_, 1); }
  std::string err() const { return fake_node::take_output(rank_, 2); }

  /// A function or variable of the guest by its C name: guest.get<decltype(::printf)>("printf").
  template <class T>
  auto get(const char* name) const {
    void* address = find(name);
    if constexpr (std::is_function_v<T>) {
      return reinterpret_cast<T*>(address);
    } else {
      return static_cast<T*>(address);
    }
  }

  /// Its address; a name that does not exist fails the test.
  void* find(const char* name) const;

 private:
  void* handle_;
  int rank_;
};

/// The guest's version of a libc function, typed like libc's.
#define GUEST(guest, name) (reinterpret_cast<decltype(&::name)>((guest).find(#name)))
