// Messages that libc writes to stderr on a program's behalf: perror, err.h, error.h, psignal, assert. They go
// to the rank's stderr, under the program's name (libc's would be the node process's). Texts as libc's.
#include <err.h>
#include <errno.h>
#include <error.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "privatize/shim/shim.h"

extern "C" {

char* program_invocation_name;
char* program_invocation_short_name;
extern char* __progname_full __attribute__((alias("program_invocation_name")));
extern char* __progname __attribute__((alias("program_invocation_short_name")));

void (*error_print_progname)();
unsigned error_message_count;
int error_one_per_line;
}

namespace {

class MessageOnStderr {
 public:
  MessageOnStderr() { flockfile(stderr); }
  ~MessageOnStderr() { funlockfile(stderr); }
  MessageOnStderr(const MessageOnStderr&) = delete;
  MessageOnStderr& operator=(const MessageOnStderr&) = delete;
};

void print_error_number(const char* before, int number, const char* after) {
  char text[64];
  fprintf(stderr, "%s%s%s", before, strerror_r(number, text, sizeof text), after);
}

void print_warning(const char* format, va_list arguments, const int* number) {
  MessageOnStderr message;
  fprintf(stderr, "%s: ", program_invocation_short_name);
  if (format != nullptr) vfprintf(stderr, format, arguments);
  if (number != nullptr) {
    print_error_number(format != nullptr ? ": " : "", *number, "\n");
  } else {
    fputc('\n', stderr);
  }
}

struct Place {
  const char* file;
  unsigned line;
};

void print_error(int status, int number, const Place* place, const char* format, va_list arguments) {
  fflush(stdout);
  {
    MessageOnStderr message;
    if (error_print_progname != nullptr) {
      error_print_progname();
    } else {
      fprintf(stderr, place != nullptr ? "%s:" : "%s: ", program_invocation_name);
    }
    if (place != nullptr && place->file != nullptr) fprintf(stderr, "%s:%u: ", place->file, place->line);
    vfprintf(stderr, format, arguments);
    ++error_message_count;
    if (number != 0) print_error_number(": ", number, "");
    fputc('\n', stderr);
  }
  if (status != 0) exit(status);
}

[[noreturn]] void assertion(const char* what, const char* file, unsigned line, const char* function) {
  fprintf(stderr, "%s%s%s:%u: %s%s%s\n", program_invocation_short_name,
          *program_invocation_short_name != '\0' ? ": " : "", file, line, function != nullptr ? function : "",
          function != nullptr ? ": " : "", what);
  abort();
}

}  // namespace

void tmpi_shim_take_arguments(int argc, char** argv, char**) {
  static char unknown[] = "program";
  program_invocation_name = program_invocation_short_name =
      argc > 0 && argv[0] != nullptr ? argv[0] : unknown;
  if (char* slash = strrchr(program_invocation_name, '/')) program_invocation_short_name = slash + 1;
}

extern "C" {

void perror(const char* prefix) {
  const int number = errno;
  const bool named = prefix != nullptr && *prefix != '\0';
  MessageOnStderr message;
  if (named) fprintf(stderr, "%s: ", prefix);
  print_error_number("", number, "\n");
  errno = number;
}

void psignal(int number, const char* prefix) {
  const bool named = prefix != nullptr && *prefix != '\0';
  const char* text = sigdescr_np(number);
  fprintf(stderr, "%s%s", named ? prefix : "", named ? ": " : "");
  fprintf(stderr, "%s\n", text != nullptr ? text : strsignal(number));
}

void vwarn(const char* format, va_list arguments) {
  const int number = errno;
  print_warning(format, arguments, &number);
}
void vwarnx(const char* format, va_list arguments) {
  print_warning(format, arguments, nullptr);
}
void verr(int status, const char* format, va_list arguments) {
  vwarn(format, arguments);
  exit(status);
}
void verrx(int status, const char* format, va_list arguments) {
  vwarnx(format, arguments);
  exit(status);
}

void warn(const char* format, ...) {
  const int number = errno;
  va_list arguments;
  va_start(arguments, format);
  print_warning(format, arguments, &number);
  va_end(arguments);
}
void warnx(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vwarnx(format, arguments);
  va_end(arguments);
}
void err(int status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  verr(status, format, arguments);
}
void errx(int status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  verrx(status, format, arguments);
}

void error(int status, int number, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_error(status, number, nullptr, format, arguments);
  va_end(arguments);
}

void error_at_line(int status, int number, const char* file, unsigned line, const char* format, ...) {
  static const char* last_file;
  static unsigned last_line;
  if (error_one_per_line != 0) {
    const bool same_file =
        file == last_file || (file != nullptr && last_file != nullptr && strcmp(file, last_file) == 0);
    if (same_file && line == last_line) return;
    last_file = file;
    last_line = line;
  }
  const Place place{file, line};
  va_list arguments;
  va_start(arguments, format);
  print_error(status, number, &place, format, arguments);
  va_end(arguments);
}

void __assert_fail(const char* expression, const char* file, unsigned line, const char* function) noexcept {
  char text[1024];
  snprintf(text, sizeof text, "Assertion `%s' failed.", expression);
  assertion(text, file, line, function);
}
void __assert_perror_fail(int number, const char* file, unsigned line, const char* function) noexcept {
  char buffer[64], text[128];
  snprintf(text, sizeof text, "Unexpected error: %s.", strerror_r(number, buffer, sizeof buffer));
  assertion(text, file, line, function);
}
void __assert(const char* expression, const char* file, int line) noexcept {
  __assert_fail(expression, file, static_cast<unsigned>(line), nullptr);
}

void __stack_chk_fail() {
  fputs("*** stack smashing detected ***: terminated\n", stderr);
  abort();
}

}  // extern "C"
