// alarm, setitimer and timer_create: a rank's own timers, which interrupt that rank (docs/reference/libc-state.md).
#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "privatize/shim/host/host_functions.h"
#include "privatize/shim/host/libc_originals.hpp"
#include "privatize/shim/process.hpp"
#include "privatize/shim/shim.h"

using tmpi::shim::in_forked_child;

extern "C" {

int setitimer(__itimer_which_t which, const struct itimerval* value, struct itimerval* old) noexcept {
  if (in_forked_child()) return tmpi_libc.setitimer(which, value, old);
  return tmpi_shim_setitimer(tmpi_image_rank, static_cast<int>(which), value, old);
}

int getitimer(__itimer_which_t which, struct itimerval* value) noexcept {
  if (in_forked_child()) return tmpi_libc.getitimer(which, value);
  return tmpi_shim_getitimer(tmpi_image_rank, static_cast<int>(which), value);
}

unsigned alarm(unsigned seconds) noexcept {
  if (in_forked_child()) return tmpi_libc.alarm(seconds);
  const struct itimerval value = {{0, 0}, {static_cast<time_t>(seconds), 0}};
  struct itimerval old {};
  if (setitimer(ITIMER_REAL, &value, &old) != 0) return 0;
  // Rounded as libc does it; a timer that runs is never said to have no time left.
  const auto left = static_cast<unsigned>(old.it_value.tv_sec);
  const bool up = old.it_value.tv_usec >= 500'000 || (left == 0 && old.it_value.tv_usec > 0);
  return left + (up ? 1 : 0);
}

useconds_t ualarm(useconds_t value, useconds_t interval) noexcept {
  const struct itimerval wanted = {{interval / 1'000'000, interval % 1'000'000},
                                   {value / 1'000'000, value % 1'000'000}};
  struct itimerval old {};
  if (setitimer(ITIMER_REAL, &wanted, &old) != 0) return static_cast<useconds_t>(-1);
  return static_cast<useconds_t>(old.it_value.tv_sec * 1'000'000 + old.it_value.tv_usec);
}

int timer_create(clockid_t clock, struct sigevent* event, timer_t* timer) noexcept {
  if (in_forked_child()) return tmpi_libc.timer_create(clock, event, timer);
  return tmpi_shim_timer_create(tmpi_image_rank, clock, event, timer);
}

int timer_delete(timer_t timer) noexcept {
  if (in_forked_child()) return tmpi_libc.timer_delete(timer);
  return tmpi_shim_timer_delete(tmpi_image_rank, timer);
}

}  // extern "C"
