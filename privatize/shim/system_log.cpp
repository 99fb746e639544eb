// openlog, setlogmask and what follows them: a rank's identity, options and mask. The connection to the log is the
// process's; each message goes there as the rank's own would.
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <syslog.h>
#include <unistd.h>

#include "privatize/shim/host/host_functions.h"
#include "privatize/shim/host/libc_originals.hpp"

namespace {

// All zeros at first, as memory is that takes no place in the file.
struct {
  const char* identity;  // as for libc, the program's own string
  int options;
  int facility;    // 0: LOG_USER
  int suppressed;  // priorities that setlogmask has left out, as bits
} settings;

}  // namespace

extern "C" {

void openlog(const char* identity, int options, int facility) {
  if (identity != nullptr) settings.identity = identity;
  settings.options = options;
  if ((facility & ~LOG_FACMASK) == 0) settings.facility = facility;
}
void closelog() {
  settings.identity = nullptr;
}
int setlogmask(int mask) noexcept {
  const int before = ~settings.suppressed & 0xff;
  if (mask != 0) settings.suppressed = ~mask & 0xff;
  return before;
}

void vsyslog(int priority, const char* format, va_list rest) {
  if ((LOG_MASK(LOG_PRI(priority)) & settings.suppressed) != 0) return;
  char* message = nullptr;
  if (tmpi_libc.vasprintf(&message, format, rest) < 0) return;
  // The process's number and its stderr are not the rank's: both are seen to here.
  char identity[128];
  const char* const name = settings.identity != nullptr ? settings.identity : program_invocation_short_name;
  if ((settings.options & LOG_PID) != 0) {
    snprintf(identity, sizeof identity, "%s[%d]", name, static_cast<int>(getpid()));
  } else {
    snprintf(identity, sizeof identity, "%s", name);
  }
  if ((settings.options & LOG_PERROR) != 0) fprintf(stderr, "%s: %s\n", identity, message);
  if ((priority & LOG_FACMASK) == 0) priority |= settings.facility != 0 ? settings.facility : LOG_USER;
  tmpi_shim_log(identity, settings.options & ~(LOG_PID | LOG_PERROR), priority, message);
  free(message);
}
void __vsyslog_chk(int priority, int, const char* format, va_list rest) {
  vsyslog(priority, format, rest);
}
void syslog(int priority, const char* format, ...) {
  va_list rest;
  va_start(rest, format);
  vsyslog(priority, format, rest);
  va_end(rest);
}
void __syslog_chk(int priority, int, const char* format, ...) {
  va_list rest;
  va_start(rest, format);
  vsyslog(priority, format, rest);
  va_end(rest);
}

}  // extern "C"
