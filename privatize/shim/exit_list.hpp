// ExitList: functions that run when something ends, last registered first. The callers lock.
#pragma once

#include <cstddef>

namespace tmpi::shim {

struct ExitHandler {
  enum class Kind : unsigned char { kCxa, kOnExit };
  union {
    void (*cxa)(void*);  ///< __cxa_atexit, and atexit through it
    void (*on_exit)(int, void*);
  };
  void* argument = nullptr;
  const void* object = nullptr;  ///< __dso_handle of the registering object, null for the program's
  Kind kind = Kind::kCxa;
};

class ExitList {
 public:
  /// False if out of memory.
  bool push(const ExitHandler& handler) noexcept;
  /// Takes the last handler off, or the last one of `object` if that is not null. False if there is none.
  bool pop(const void* object, ExitHandler* handler) noexcept;

 private:
  static constexpr std::size_t kFirst = 4;  // enough for many programs, and little of each rank's memory
  ExitHandler first_[kFirst] = {};
  ExitHandler* more_ = nullptr;
  std::size_t count_ = 0, capacity_ = 0;  // of all; of more_
  ExitHandler& at(std::size_t i) { return i < kFirst ? first_[i] : more_[i - kFirst]; }
};

}  // namespace tmpi::shim
