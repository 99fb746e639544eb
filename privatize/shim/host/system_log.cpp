// The process's connection to the system's log, for messages of all ranks.
#include <syslog.h>

#include <mutex>

#include "privatize/shim/host/host_functions.h"

extern "C" void tmpi_shim_log(const char* identity, int options, int priority, const char* message) {
  static std::mutex mutex;
  const std::lock_guard guard(mutex);
  openlog(identity, options, LOG_USER);
  syslog(priority, "%s", message);
  openlog("tmpi-node", 0, LOG_USER);  // libc keeps the pointer
}
