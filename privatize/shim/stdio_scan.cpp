// Reading from the rank's stdin by functions that name no stream. A read may SUSPEND the fiber (rank 0 waits
// for the job's stdin).
#include <features.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

extern "C" {

// The standard's scanf, under the names that headers give it, and the pre-C99 one, each with the matching
// function of libc. The C23 forms exist from glibc 2.38 on.
int __isoc99_vfscanf(FILE* file, const char* format, va_list arguments);
#if __GLIBC_PREREQ(2, 38)
int __isoc23_vfscanf(FILE* file, const char* format, va_list arguments);
#define TMPI_C23_SCANF(X) X(__isoc23_scanf, __isoc23_vscanf, __isoc23_vfscanf)
#else
#define TMPI_C23_SCANF(X)
#endif
int libc_vfscanf(FILE* file, const char* format, va_list arguments) __asm__("vfscanf");
int shim_scanf(const char* format, ...) __asm__("scanf");
int shim_vscanf(const char* format, va_list arguments) __asm__("vscanf");

#define TMPI_SCANF(scan, vscan, vfscan)                  \
  int vscan(const char* format, va_list arguments) {     \
    return vfscan(stdin, format, arguments);             \
  }                                                      \
  int scan(const char* format, ...) {                    \
    va_list arguments;                                   \
    va_start(arguments, format);                         \
    const int result = vfscan(stdin, format, arguments); \
    va_end(arguments);                                   \
    return result;                                       \
  }
#define TMPI_SCANF_DECLARED(scan, vscan, vfscan)    \
  int vscan(const char* format, va_list arguments); \
  int scan(const char* format, ...);                \
  TMPI_SCANF(scan, vscan, vfscan)

TMPI_SCANF(shim_scanf, shim_vscanf, libc_vfscanf)
TMPI_SCANF_DECLARED(__isoc99_scanf, __isoc99_vscanf, __isoc99_vfscanf)
TMPI_C23_SCANF(TMPI_SCANF_DECLARED)

#undef getchar
#undef getchar_unlocked
int getchar() {
  return fgetc(stdin);
}
int getchar_unlocked() {
  return fgetc_unlocked(stdin);
}

static char* get_line(char* line, size_t size) {
  size_t length = 0;
  int character = EOF;
  flockfile(stdin);
  while (length + 1 < size && (character = fgetc_unlocked(stdin)) != EOF && character != '\n') {
    line[length++] = static_cast<char>(character);
  }
  funlockfile(stdin);
  if (character == EOF && length == 0) return nullptr;
  line[length] = '\0';
  return line;
}

// Gone from C11's headers, still called by old programs.
char* gets(char* line) {
  return get_line(line, SIZE_MAX);
}
char* __gets_chk(char* line, size_t size) {
  return get_line(line, size);
}

}  // extern "C"
