// scanf that allocates what it reads (%ms, %mc, %m[): with a malloc of the program's own (allocator.hpp), what libc's
// has allocated becomes memory of the rank before the program sees it.
#include <features.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "privatize/rank_callbacks.h"
#include "privatize/shim/allocator.hpp"

namespace tmpi::shim {
namespace {

/// A conversion that takes an argument, a pointer like all of scanf's.
struct Conversion {
  int argument = 0;  // from 0
  bool allocates = false, counts = true, wide = false;
  size_t width = 0;  // 0: not given
  char kind = '\0';
};

/// Goes through a format.
class Format {
 public:
  explicit Format(const char* text) noexcept : at_(text) {}
  /// False: there is none left.
  bool next(Conversion& conversion) noexcept;

 private:
  size_t number() noexcept {
    size_t value = 0;
    for (; *at_ >= '0' && *at_ <= '9'; ++at_) value = value * 10 + static_cast<size_t>(*at_ - '0');
    return value;
  }
  void skip_set() noexcept {
    if (*at_ == '^') ++at_;
    if (*at_ == ']') ++at_;
    while (*at_ != '\0' && *at_ != ']') ++at_;
    if (*at_ == ']') ++at_;
  }

  const char* at_;
  int arguments_ = 0;
};

bool Format::next(Conversion& conversion) noexcept {
  while ((at_ = strchr(at_, '%')) != nullptr) {
    conversion = {};
    ++at_;
    size_t leading = number();
    int position = 0;
    if (*at_ == '$') {
      position = static_cast<int>(leading);
      ++at_;
      leading = 0;
    }
    bool suppressed = false;
    for (; *at_ != '\0' && strchr("*'I", *at_) != nullptr; ++at_) suppressed = suppressed || *at_ == '*';
    conversion.width = leading != 0 ? leading : number();
    for (; *at_ != '\0' && strchr("mhlLqjzt", *at_) != nullptr; ++at_) {
      conversion.allocates = conversion.allocates || *at_ == 'm';
      conversion.wide = conversion.wide || *at_ == 'l';
    }
    if (*at_ == '\0') return false;
    conversion.kind = *at_++;
    if (conversion.kind == '[') skip_set();
    if (conversion.kind == 'S' || conversion.kind == 'C') conversion.wide = true;
    if (conversion.kind == '%' || suppressed) continue;
    conversion.counts = conversion.kind != 'n';
    conversion.argument = position != 0 ? position - 1 : arguments_++;
    return true;
  }
  return false;
}

void* argument_of(va_list arguments, int number) noexcept {
  va_list copy;
  va_copy(copy, arguments);
  for (; number > 0; --number) static_cast<void>(va_arg(copy, void*));
  void* const found = va_arg(copy, void*);
  va_end(copy);
  return found;
}

size_t bytes_of(const Conversion& conversion, const void* from_libc) noexcept {
  const size_t unit = conversion.wide ? sizeof(wchar_t) : 1;
  if (conversion.kind == 'c' || conversion.kind == 'C')
    return unit * (conversion.width != 0 ? conversion.width : 1);
  return unit * (1 + (conversion.wide ? wcslen(static_cast<const wchar_t*>(from_libc))
                                      : strlen(static_cast<const char*>(from_libc))));
}

/// `result`: scanf's, so many conversions have been assigned.
int take_over_scanned(int result, const char* format, va_list arguments) noexcept {
  Format rest(format);
  Conversion conversion;
  bool whole = true;
  for (int left = result; left > 0 && rest.next(conversion);) {
    if (conversion.counts) --left;
    if (!conversion.allocates) continue;
    void** const place = static_cast<void**>(argument_of(arguments, conversion.argument));
    *place = take_over(*place, bytes_of(conversion, *place));
    whole = whole && *place != nullptr;
  }
  return whole ? result : EOF;
}

using Scan = int (*)(FILE*, const char*, va_list);
using ScanText = int (*)(const char*, const char*, va_list);
int call(Scan of_libc, FILE* source, const char* format, va_list arguments) noexcept {
  return tmpi_wait_scan(of_libc, source, format, arguments);
}
int call(ScanText of_libc, const char* source, const char* format, va_list arguments) noexcept {
  return of_libc(source, format, arguments);
}

template <class Source>
int scan(int (*of_libc)(Source, const char*, va_list), Source source, const char* format,
         va_list arguments) noexcept {
  va_list again;
  va_copy(again, arguments);
  int result = call(of_libc, source, format, arguments);
  if (has_own_malloc() && strchr(format, 'm') != nullptr) result = take_over_scanned(result, format, again);
  va_end(again);
  return result;
}

}  // namespace

extern "C" {

// The standard's functions, under the names that headers give them, and the pre-C99 ones.
#define TMPI_SCANS(vscan, scan_it, Source)                           \
  int vscan(Source source, const char* format, va_list arguments) {  \
    return scan<Source>(tmpi_libc.vscan, source, format, arguments); \
  }                                                                  \
  int scan_it(Source source, const char* format, ...) {              \
    va_list arguments;                                               \
    va_start(arguments, format);                                     \
    const int result = vscan(source, format, arguments);             \
    va_end(arguments);                                               \
    return result;                                                   \
  }
int __isoc99_fscanf(FILE* source, const char* format, ...);
int __isoc99_sscanf(const char* source, const char* format, ...);
int tmpi_old_fscanf(FILE* source, const char* format, ...) __asm__("fscanf");
int tmpi_old_sscanf(const char* source, const char* format, ...) __asm__("sscanf");

TMPI_SCANS(__isoc99_vfscanf, __isoc99_fscanf, FILE*)
TMPI_SCANS(__isoc99_vsscanf, __isoc99_sscanf, const char*)
TMPI_SCANS(tmpi_old_vfscanf, tmpi_old_fscanf, FILE*)
TMPI_SCANS(tmpi_old_vsscanf, tmpi_old_sscanf, const char*)
#if __GLIBC_PREREQ(2, 38)
int __isoc23_fscanf(FILE* source, const char* format, ...);
int __isoc23_sscanf(const char* source, const char* format, ...);
TMPI_SCANS(__isoc23_vfscanf, __isoc23_fscanf, FILE*)
TMPI_SCANS(__isoc23_vsscanf, __isoc23_sscanf, const char*)
#endif

}  // extern "C"

}  // namespace tmpi::shim
