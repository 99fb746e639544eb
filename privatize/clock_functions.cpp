// Clocks as the program reads them: libc's own, and a note that somebody did (base/clock_watch.hpp). Bound to code in
// images only.
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>

#include <chrono>

#include "base/clock_watch.hpp"
#include "privatize/runtime_functions.hpp"

namespace tmpi::privatize {

extern "C" int tmpi_clock_gettime(clockid_t clock, timespec* time) {
  note_clock_reading();
  return ::clock_gettime(clock, time);
}

extern "C" int tmpi_gettimeofday(timeval* time, void* zone) {
  note_clock_reading();
  return ::gettimeofday(time, zone);
}

extern "C" time_t tmpi_time(time_t* time) {
  note_clock_reading();
  return ::time(time);
}

extern "C" int tmpi_timespec_get(timespec* time, int base) {
  note_clock_reading();
  return ::timespec_get(time, base);
}

extern "C" clock_t tmpi_clock() {
  note_clock_reading();
  return ::clock();
}

extern "C" clock_t tmpi_times(tms* times) {
  note_clock_reading();
  return ::times(times);
}

std::chrono::steady_clock::time_point tmpi_steady_now() noexcept {
  note_clock_reading();
  return std::chrono::steady_clock::now();
}

std::chrono::system_clock::time_point tmpi_system_now() noexcept {
  note_clock_reading();
  return std::chrono::system_clock::now();
}

}  // namespace tmpi::privatize
