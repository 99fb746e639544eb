// The functions of libc that tell a rank the time or give it random bytes, as ranks are bound to them without --record and
// --replay.
#pragma once

#include <sys/random.h>
#include <sys/time.h>
#include <time.h>

#include <cstddef>
#include <vector>

#include "replay/logs.hpp"

namespace tmpi::replay {

struct Clocks {
  int (*clock_gettime)(clockid_t clock, timespec* now) = &::clock_gettime;
  int (*gettimeofday)(timeval* now, void* zone) = [](timeval* now, void* zone) {
    return ::gettimeofday(now, zone);
  };
  int (*timespec_get)(timespec* now, int base) = &::timespec_get;
  time_t (*time)(time_t* where) = &::time;
  ssize_t (*getrandom)(void* buffer, std::size_t length, unsigned flags) = &::getrandom;
};

/// Written before any rank runs.
Clocks& clocks() noexcept;

/// Their versions, by the names of libc.
const std::vector<Version>& system_functions();

}  // namespace tmpi::replay
