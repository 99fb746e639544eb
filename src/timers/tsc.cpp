#include "timers/tsc.hpp"

#include <cpuid.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmath>
#include <cstring>

#include "base/platform.hpp"

namespace tmpi::timers {
namespace {

bool has_invariant_tsc() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kPowerLeaf = 0x80000007;
  if (!__get_cpuid(kPowerLeaf, &a, &b, &c, &d)) return false;
  return (d & (1u << 8)) != 0;
}

bool kernel_uses_tsc() noexcept {
  const int fd =
      open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char name[32] = {};
  const ssize_t length = read(fd, name, sizeof name - 1);
  close(fd);
  return length >= 3 && std::strncmp(name, "tsc", 3) == 0 && (name[3] == '\n' || name[3] == '\0');
}

std::uint64_t monotonic_nanoseconds() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

bool tsc_is_trustworthy() noexcept {
  return has_invariant_tsc() && kernel_uses_tsc();
}

double tsc_hertz_from_kernel() noexcept {
  // perf_event_open(2): the user page of any event carries the factors ns = (tsc * time_mult) >> time_shift,
  // a stable ABI (unlike the vDSO's data page, which holds the same numbers).
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_DUMMY;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  const int fd = static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
  if (fd < 0) return 0;
  const long page_size = sysconf(_SC_PAGESIZE);
  void* page = mmap(nullptr, static_cast<std::size_t>(page_size), PROT_READ, MAP_SHARED, fd, 0);
  close(fd);
  if (page == MAP_FAILED) return 0;
  const auto* user_page = static_cast<const volatile perf_event_mmap_page*>(page);
  double hertz = 0;
  if (user_page->cap_user_time && user_page->time_mult != 0) {
    hertz = 1e9 * std::ldexp(1.0, user_page->time_shift) / static_cast<double>(user_page->time_mult);
  }
  munmap(page, static_cast<std::size_t>(page_size));
  return hertz;
}

double tsc_hertz_from_cpuid() noexcept {
  unsigned denominator = 0, numerator = 0, crystal_hertz = 0, unused = 0;
  if (__get_cpuid_max(0, nullptr) < 0x15) return 0;
  if (!__get_cpuid(0x15, &denominator, &numerator, &crystal_hertz, &unused)) return 0;
  if (denominator == 0 || numerator == 0 || crystal_hertz == 0) return 0;
  return static_cast<double>(crystal_hertz) * numerator / denominator;
}

Moment read_both() noexcept {
  Moment best;
  std::uint64_t best_width = ~std::uint64_t{0};
  for (int attempt = 0; attempt < 24; ++attempt) {
    const std::uint64_t before = cycle_counter();
    const std::uint64_t nanoseconds = monotonic_nanoseconds();
    const std::uint64_t after = cycle_counter();
    if (after - before < best_width) {
      best_width = after - before;
      best = {before + (after - before) / 2, nanoseconds};
    }
  }
  return best;
}

double measure_tsc_hertz(const Moment& start, std::uint64_t nanoseconds) noexcept {
  while (monotonic_nanoseconds() - start.nanoseconds < nanoseconds) cpu_relax();
  const Moment end = read_both();
  return 1e9 * static_cast<double>(end.tsc - start.tsc) /
         static_cast<double>(end.nanoseconds - start.nanoseconds);
}

}  // namespace tmpi::timers
