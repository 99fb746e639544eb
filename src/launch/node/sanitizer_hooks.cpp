// What the runtime of a sanitizer, which watches the whole node process, asks of the program and tells it. It knows threads and not ranks:
// so the last line of each of its reports comes from here, and says which rank was running. The names are the sanitizers' own
// (sanitizer/common_interface_defs.h); without a sanitizer nobody calls them.
#include <sys/syscall.h>
#include <unistd.h>

#include "launch/system/safe_text.hpp"
#include "privatize/loader.hpp"

#pragma GCC visibility push(default)
extern "C" {

void __sanitizer_report_error_summary(const char* summary);
const char* __tsan_default_options();
const char* __ubsan_default_options();

/// In place of the one that prints `summary`. In the middle of a report: no heap, and nothing that a sanitizer watches.
void __sanitizer_report_error_summary(const char* summary) {
  char buffer[1024];
  tmpi::launch::SafeText text(buffer, sizeof buffer);
  const int rank = tmpi::privatize::running_rank();
  text << "tmpirun: ";
  if (rank >= 0) {
    text << "rank " << static_cast<long>(rank) << ": ";
  } else {
    text << "the node process, outside any rank: ";
  }
  text << summary << "\n";
  syscall(SYS_write, STDERR_FILENO, buffer, text.length());
}

/// How tmpi hands memory from one worker to another ThreadSanitizer does not see, since tmpi is not compiled for it.
const char* __tsan_default_options() {
  return "ignore_noninstrumented_modules=1";
}

/// By default it has no last line.
const char* __ubsan_default_options() {
  return "print_summary=1";
}

}  // extern "C"
#pragma GCC visibility pop
