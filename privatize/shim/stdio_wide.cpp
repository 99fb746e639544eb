// Wide characters on the rank's standard streams. libc refuses them there (a stream made by fopencookie is a
// byte stream for good), so they are converted here, by the locale, to what the byte stream takes. Files of
// any other kind go to libc. Two gaps, both documented: the standard streams have no orientation, and wscanf
// does not read a rank's stdin (it fails with ENOTSUP).
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "privatize/shim/host/libc_originals.hpp"
#include "privatize/shim/streams.hpp"

using tmpi::shim::standard_stream;

namespace {

wint_t put(wchar_t character, FILE* file) {
  char bytes[MB_LEN_MAX];
  mbstate_t state{};
  const size_t length = wcrtomb(bytes, character, &state);
  if (length == static_cast<size_t>(-1)) return WEOF;
  return fwrite(bytes, 1, length, file) == length ? static_cast<wint_t>(character) : WEOF;
}

int put_text(const wchar_t* text, FILE* file) {
  mbstate_t state{};
  const wchar_t* rest = text;
  const size_t length = wcsrtombs(nullptr, &rest, 0, &state);
  if (length == static_cast<size_t>(-1)) return EOF;
  auto* bytes = static_cast<char*>(malloc(length + 1));
  if (bytes == nullptr) return EOF;
  rest = text;
  state = {};
  wcsrtombs(bytes, &rest, length + 1, &state);
  const bool written = fwrite(bytes, 1, length, file) == length;
  free(bytes);
  return written ? static_cast<int>(length) : EOF;
}

int print(FILE* file, const wchar_t* format, va_list arguments) {
  constexpr size_t kMost =
      1 << 24;  // characters; vswprintf does not tell "does not fit" from "cannot be converted"
  for (size_t capacity = 256; capacity <= kMost; capacity *= 4) {
    auto* text = static_cast<wchar_t*>(malloc(capacity * sizeof(wchar_t)));
    if (text == nullptr) return -1;
    va_list copy;
    va_copy(copy, arguments);
    const int length = vswprintf(text, capacity, format, copy);
    va_end(copy);
    const bool written = length >= 0 && put_text(text, file) != EOF;
    free(text);
    if (length >= 0) return written ? length : -1;
    if (errno == EILSEQ) return -1;
  }
  return -1;
}

wint_t get(FILE* file) {
  mbstate_t state{};
  for (int byte; (byte = getc(file)) != EOF;) {
    const char one = static_cast<char>(byte);
    wchar_t character;
    const size_t length = mbrtowc(&character, &one, 1, &state);
    if (length == static_cast<size_t>(-1)) return WEOF;
    if (length != static_cast<size_t>(-2)) return static_cast<wint_t>(character);
  }
  return WEOF;
}

wint_t unget(wint_t character, FILE* file) {
  char bytes[MB_LEN_MAX];
  mbstate_t state{};
  if (character == WEOF) return WEOF;
  size_t length = wcrtomb(bytes, static_cast<wchar_t>(character), &state);
  if (length == static_cast<size_t>(-1)) return WEOF;
  while (length > 0) {
    if (ungetc(static_cast<unsigned char>(bytes[--length]), file) == EOF) return WEOF;
  }
  return character;
}

wchar_t* get_line(wchar_t* line, int size, FILE* file) {
  int length = 0;
  while (length + 1 < size) {
    const wint_t character = get(file);
    if (character == WEOF) break;
    line[length++] = static_cast<wchar_t>(character);
    if (character == L'\n') break;
  }
  if (length == 0 || ferror(file)) return nullptr;
  line[length] = L'\0';
  return line;
}

}  // namespace

extern "C" {

int fwide(FILE* file, int mode) {
  return standard_stream(file) >= 0 ? mode : tmpi_libc.fwide(file, mode);
}

wint_t fputwc(wchar_t c, FILE* file) {
  return standard_stream(file) >= 0 ? put(c, file) : tmpi_libc.fputwc(c, file);
}
wint_t fputwc_unlocked(wchar_t c, FILE* file) {
  return standard_stream(file) >= 0 ? put(c, file) : tmpi_libc.fputwc_unlocked(c, file);
}
wint_t putwc(wchar_t c, FILE* file) {
  return fputwc(c, file);
}
wint_t putwc_unlocked(wchar_t c, FILE* file) {
  return fputwc_unlocked(c, file);
}
wint_t putwchar(wchar_t c) {
  return fputwc(c, stdout);
}
wint_t putwchar_unlocked(wchar_t c) {
  return fputwc_unlocked(c, stdout);
}

int fputws(const wchar_t* text, FILE* file) {
  return standard_stream(file) < 0 ? tmpi_libc.fputws(text, file) : put_text(text, file) == EOF ? EOF : 1;
}
int fputws_unlocked(const wchar_t* text, FILE* file) {
  return standard_stream(file) < 0     ? tmpi_libc.fputws_unlocked(text, file)
         : put_text(text, file) == EOF ? EOF
                                       : 1;
}

int vfwprintf(FILE* file, const wchar_t* format, va_list arguments) {
  return standard_stream(file) >= 0 ? print(file, format, arguments)
                                    : tmpi_libc.vfwprintf(file, format, arguments);
}
int __vfwprintf_chk(FILE* file, int, const wchar_t* format, va_list arguments) {
  return vfwprintf(file, format, arguments);
}
int vwprintf(const wchar_t* format, va_list arguments) {
  return vfwprintf(stdout, format, arguments);
}
int __vwprintf_chk(int, const wchar_t* format, va_list arguments) {
  return vfwprintf(stdout, format, arguments);
}

#define TMPI_FORWARD_WPRINTF(file)                       \
  va_list arguments;                                     \
  va_start(arguments, format);                           \
  const int result = vfwprintf(file, format, arguments); \
  va_end(arguments);                                     \
  return result
int fwprintf(FILE* file, const wchar_t* format, ...) {
  TMPI_FORWARD_WPRINTF(file);
}
int __fwprintf_chk(FILE* file, int, const wchar_t* format, ...) {
  TMPI_FORWARD_WPRINTF(file);
}
int wprintf(const wchar_t* format, ...) {
  TMPI_FORWARD_WPRINTF(stdout);
}
int __wprintf_chk(int, const wchar_t* format, ...) {
  TMPI_FORWARD_WPRINTF(stdout);
}

wint_t fgetwc(FILE* file) {
  return standard_stream(file) >= 0 ? get(file) : tmpi_libc.fgetwc(file);
}
wint_t fgetwc_unlocked(FILE* file) {
  return standard_stream(file) >= 0 ? get(file) : tmpi_libc.fgetwc_unlocked(file);
}
wint_t getwc(FILE* file) {
  return fgetwc(file);
}
wint_t getwc_unlocked(FILE* file) {
  return fgetwc_unlocked(file);
}
wint_t getwchar() {
  return fgetwc(stdin);
}
wint_t getwchar_unlocked() {
  return fgetwc_unlocked(stdin);
}
wint_t ungetwc(wint_t c, FILE* file) {
  return standard_stream(file) >= 0 ? unget(c, file) : tmpi_libc.ungetwc(c, file);
}

wchar_t* fgetws(wchar_t* line, int size, FILE* file) {
  return standard_stream(file) >= 0 ? get_line(line, size, file) : tmpi_libc.fgetws(line, size, file);
}
wchar_t* fgetws_unlocked(wchar_t* line, int size, FILE* file) {
  return standard_stream(file) >= 0 ? get_line(line, size, file)
                                    : tmpi_libc.fgetws_unlocked(line, size, file);
}

wchar_t* __fgetws_chk(wchar_t* line, size_t size, int count, FILE* file) {
  if (count > 0 && static_cast<size_t>(count) > size) abort();
  return fgetws(line, count, file);
}

static int scan(FILE* file, const wchar_t* format, va_list arguments) {
  if (standard_stream(file) < 0) return tmpi_libc.vfwscanf(file, format, arguments);
  errno = ENOTSUP;
  return EOF;
}
int shim_vfwscanf(FILE*, const wchar_t*, va_list) __asm__("vfwscanf");
int shim_vwscanf(const wchar_t*, va_list) __asm__("vwscanf");
int shim_fwscanf(FILE*, const wchar_t*, ...) __asm__("fwscanf");
int shim_wscanf(const wchar_t*, ...) __asm__("wscanf");
int shim_vwscanf(const wchar_t* format, va_list arguments) {
  return scan(stdin, format, arguments);
}
int shim_vfwscanf(FILE* file, const wchar_t* format, va_list arguments) {
  return scan(file, format, arguments);
}
int __isoc99_vfwscanf(FILE* file, const wchar_t* format, va_list arguments) {
  return scan(file, format, arguments);
}
int __isoc99_vwscanf(const wchar_t* format, va_list arguments) {
  return scan(stdin, format, arguments);
}

#define TMPI_FORWARD_WSCANF(file)                   \
  va_list arguments;                                \
  va_start(arguments, format);                      \
  const int result = scan(file, format, arguments); \
  va_end(arguments);                                \
  return result
int shim_fwscanf(FILE* file, const wchar_t* format, ...) {
  TMPI_FORWARD_WSCANF(file);
}
int shim_wscanf(const wchar_t* format, ...) {
  TMPI_FORWARD_WSCANF(stdin);
}
int __isoc99_fwscanf(FILE* file, const wchar_t* format, ...) {
  TMPI_FORWARD_WSCANF(file);
}
int __isoc99_wscanf(const wchar_t* format, ...) {
  TMPI_FORWARD_WSCANF(stdin);
}

#if __GLIBC_PREREQ(2, 38)
int __isoc23_vfwscanf(FILE* file, const wchar_t* format, va_list arguments) {
  return scan(file, format, arguments);
}
int __isoc23_vwscanf(const wchar_t* format, va_list arguments) {
  return scan(stdin, format, arguments);
}
int __isoc23_fwscanf(FILE* file, const wchar_t* format, ...) {
  TMPI_FORWARD_WSCANF(file);
}
int __isoc23_wscanf(const wchar_t* format, ...) {
  TMPI_FORWARD_WSCANF(stdin);
}
#endif

}  // extern "C"
