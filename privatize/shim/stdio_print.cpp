// The functions that name no stream because they mean the rank's standard ones. The shim is compiled without
// _FORTIFY_SOURCE; the __*_chk forms come from programs compiled with it, `flag` > 0 forbids %n in writable
// formats, which is libc's to check.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "privatize/shim/descriptors.hpp"
#include "privatize/shim/host/libc_originals.hpp"

extern "C" {

int __vfprintf_chk(FILE* file, int flag, const char* format, va_list arguments);

int vprintf(const char* format, va_list arguments) {
  return vfprintf(stdout, format, arguments);
}

int printf(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int result = vfprintf(stdout, format, arguments);
  va_end(arguments);
  return result;
}

int __vprintf_chk(int flag, const char* format, va_list arguments) {
  return __vfprintf_chk(stdout, flag, format, arguments);
}

int __printf_chk(int flag, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int result = __vfprintf_chk(stdout, flag, format, arguments);
  va_end(arguments);
  return result;
}

int puts(const char* text) {
  flockfile(stdout);
  int result = fputs(text, stdout);
  if (result >= 0) result = fputc('\n', stdout) == EOF ? EOF : 1;
  funlockfile(stdout);
  return result;
}

#undef putchar
#undef putchar_unlocked
int putchar(int character) {
  return fputc(character, stdout);
}
int putchar_unlocked(int character) {
  return fputc_unlocked(character, stdout);
}

int vdprintf(int fd, const char* format, va_list arguments) {
  if (!tmpi::shim::is_rank_descriptor(fd)) return tmpi_libc.vdprintf(fd, format, arguments);
  char* text = nullptr;
  const int length = vasprintf(&text, format, arguments);
  if (length < 0) return length;
  const ssize_t written = tmpi::shim::write_descriptor(fd, text, static_cast<size_t>(length));
  free(text);
  return written < 0 ? -1 : length;
}

int dprintf(int fd, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int result = vdprintf(fd, format, arguments);
  va_end(arguments);
  return result;
}

int __vdprintf_chk(int fd, int, const char* format, va_list arguments) {
  return vdprintf(fd, format, arguments);
}

int __dprintf_chk(int fd, int, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int result = vdprintf(fd, format, arguments);
  va_end(arguments);
  return result;
}

}  // extern "C"
