#include "launch/system/no_memory.hpp"

#include <cxxabi.h>
#include <errno.h>
#include <unistd.h>

#include <exception>
#include <new>
#include <typeinfo>

#include "launch/system/safe_text.hpp"

namespace tmpi::launch {
namespace {

const char* the_process = "tmpi";
void (*the_report)(const char* what) noexcept = nullptr;
std::terminate_handler the_previous = nullptr;

// An exception that has come as far as a noexcept function is no longer the current one, nor caught; of tmpi's
// own code nothing but an allocation throws there.
bool is_no_memory() noexcept {
  const std::type_info* thrown = abi::__cxa_current_exception_type();
  if (thrown == nullptr) return std::uncaught_exceptions() > 0;
  return *thrown == typeid(std::bad_alloc) || *thrown == typeid(std::bad_array_new_length);
}

[[noreturn]] void on_terminate() noexcept {
  if (is_no_memory()) no_memory_for("what it has to do");
  the_previous();
  _exit(1);
}

// Before all other constructors: they make tables.
[[gnu::constructor(101)]] void from_the_start() noexcept {
  the_process = program_invocation_short_name;
  the_previous = std::set_terminate(on_terminate);
}

}  // namespace

void report_no_memory_by(void (*report)(const char* what) noexcept) noexcept {
  the_report = report;
}

void no_memory_for(const char* what) noexcept {
  if (the_report != nullptr) the_report(what);
  char buffer[512], host[256] = "this machine";
  gethostname(host, sizeof host - 1);
  SafeText text(buffer, sizeof buffer);
  text << the_process << " on host " << host << ": there is no memory for " << what
       << "; the job has been ended. Is a limit (ulimit -v, a container's) too low?\n";
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, buffer, text.length());
  _exit(kExitNoMemory);
}

}  // namespace tmpi::launch
