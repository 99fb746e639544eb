#include "timers/counter_source.hpp"

#include <doctest/doctest.h>
#include <sched.h>
#include <sys/mman.h>

#include <string>

#include "timers/clock.hpp"
#include "timers/perf_event.hpp"

namespace tmpi::timers {
namespace {

TEST_CASE("events have perf's names and PAPI's") {
  CHECK(find_event("instructions") == find_event("PAPI_TOT_INS"));
  CHECK(find_event("cycles") >= 0);
  CHECK(find_event("instruction") == -1);
  CHECK(find_event("") == -1);
  CHECK(std::string(event_name(find_event("PAPI_L3_TCM"))) == "cache-misses");
  CHECK(event_names().find("page-faults") != std::string::npos);
}

TEST_CASE("what the kernel keeps of every thread is there and counts") {
  const auto source = machine_counters();
  const int faults = find_event("page-faults"), clock = find_event("task-clock"),
            switches = find_event("context-switches");
  std::uint64_t before = 0, after = 0, cpu = 0, cpu_later = 0, blocked = 0, blocked_later = 0;
  for (const int event : {faults, clock, switches}) REQUIRE(source->open(event));
  constexpr std::size_t kPages = 50, kPage = 4096;
  void* memory = mmap(nullptr, kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  madvise(memory, kPages * kPage, MADV_NOHUGEPAGE);
  const double start =
      wtime();  // before the first reading, so that no time can be counted that is not waited
  REQUIRE(source->read(faults, before));
  REQUIRE(source->read(clock, cpu));
  REQUIRE(source->read(switches, blocked));
  for (std::size_t i = 0; i < kPages; ++i) static_cast<volatile char*>(memory)[i * kPage] = 1;
  while (wtime() - start < 5e-3) {
  }
  REQUIRE(source->read(faults, after));
  REQUIRE(source->read(clock, cpu_later));
  // A thread whose core is taken away on the way to sleep may find that its time has passed already.
  blocked_later = blocked;
  for (int naps = 0; naps < 1000 && blocked_later == blocked; ++naps) {
    const timespec nap{0, 1'000'000};
    nanosleep(&nap, nullptr);
    REQUIRE(source->read(switches, blocked_later));
  }
  CHECK(after - before >= kPages);
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  constexpr int kShadow = 5;  // the sanitizer touches pages of its own for each of ours
#else
  constexpr int kShadow = 1;
#endif
  CHECK(after - before < kPages * kShadow + 1000);  // with what the system has taken away in between
  CHECK(cpu_later > cpu);
  CHECK(static_cast<double>(cpu_later - cpu) * 1e-9 <=
        (wtime() - start) * 1.001);  // the clocks may differ by 50 ppm
  CHECK(blocked_later > blocked);
  munmap(memory, kPages * kPage);
}

TEST_CASE("a counter of the processor counts, or the machine says why it has none") {
  const auto source = machine_counters();
  const int event = find_event("instructions");
  const Result<void> opened = source->open(event);
  if (!opened) {
    MESSAGE(opened.message());
    CHECK(opened.message().find("counter instructions: ") == 0);
    const bool has_reason = opened.message().find("does not offer it") != std::string::npos ||
                            opened.message().find("does not permit it") != std::string::npos;
    CHECK(has_reason);
    return;
  }
  std::uint64_t before = 0, after = 0;
  REQUIRE(source->read(event, before));
  for (int i = 0; i < 100'000; ++i) __asm__ volatile("");
  REQUIRE(source->read(event, after));
  CHECK(after - before >= 200'000);  // add, compare, branch
  CHECK(after - before < 2'000'000);
  source->close(event);
}

TEST_CASE("perf_event_open's errors are explained") {
  CHECK(perf_event_problem(ENOENT).find("does not offer it") != std::string::npos);
  CHECK(perf_event_problem(EACCES).find("perf_event_paranoid is ") != std::string::npos);
  CHECK(perf_event_problem(EMFILE).find("ulimit -n") != std::string::npos);
  CHECK(perf_event_problem(EINVAL).find("Invalid argument") != std::string::npos);
}

}  // namespace
}  // namespace tmpi::timers
