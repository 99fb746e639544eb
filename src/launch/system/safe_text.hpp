// SafeText: words for a crash report, written inside a signal handler: fixed memory, no locale, no lock.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tmpi::launch {

class SafeText {
 public:
  SafeText(char* buffer, std::size_t capacity) noexcept : buffer_(buffer), capacity_(capacity) {}

  SafeText& operator<<(const char* text) noexcept {
    for (; *text; ++text) put(*text);
    return *this;
  }
  SafeText& operator<<(long number) noexcept {
    unsigned long value = static_cast<unsigned long>(number);
    if (number < 0) {
      put('-');
      value = 0 - value;
    }
    return digits(value, 10);
  }
  SafeText& hex(std::uintptr_t value) noexcept {
    *this << "0x";
    return digits(value, 16);
  }
  std::size_t length() const noexcept { return length_; }
  /// Takes back what came after the first `length` characters.
  void cut(std::size_t length) noexcept { length_ = length; }

 private:
  SafeText& digits(unsigned long value, unsigned base) noexcept {
    char reversed[24];
    int count = 0;
    do {
      reversed[count++] = "0123456789abcdef"[value % base];
    } while ((value /= base) != 0);
    while (count > 0) put(reversed[--count]);
    return *this;
  }
  void put(char c) noexcept {
    if (length_ < capacity_) buffer_[length_++] = c;
  }

  char* buffer_;
  std::size_t capacity_;
  std::size_t length_ = 0;
};

}  // namespace tmpi::launch
