// Result<T>: a value or a Failure with a sentence for the user. Used where something can go wrong outside the
// hot paths (set-up, loading, launching); the MPI library proper has its own error type (mpi/base/error.hpp).
// No exceptions, no suspension.
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace tmpi {

/// Why something failed, worded by whoever decided on it: what happened, the likely cause, what to do.
struct Failure {
  std::string message;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Failure failure) : state_(std::in_place_index<1>, std::move(failure)) {}

  explicit operator bool() const noexcept { return state_.index() == 0; }
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const std::string& message() const { return std::get<1>(state_).message; }
  Failure failure() const { return std::get<1>(state_); }

 private:
  std::variant<T, Failure> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Failure failure) : failure_(std::move(failure)), ok_(false) {}

  explicit operator bool() const noexcept { return ok_; }
  const std::string& message() const { return failure_.message; }
  Failure failure() const { return failure_; }

 private:
  Failure failure_;
  bool ok_ = true;
};

}  // namespace tmpi
