#include "timers/counter_source.hpp"

#include <linux/perf_event.h>
#include <sys/resource.h>
#include <time.h>

#include <array>
#include <cstdint>

#include "timers/perf_event.hpp"

namespace tmpi::timers {
namespace {

std::uint64_t cpu_time() noexcept {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

rusage usage() noexcept {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage;
}

std::uint64_t page_faults() noexcept {
  const rusage u = usage();
  return static_cast<std::uint64_t>(u.ru_minflt + u.ru_majflt);
}

std::uint64_t context_switches() noexcept {
  const rusage u = usage();
  return static_cast<std::uint64_t>(u.ru_nvcsw + u.ru_nivcsw);
}

struct Event {
  const char* name;
  const char* papi;                    // PAPI's preset, or null
  std::uint64_t config;                // PERF_COUNT_HW_*, if the processor counts it
  std::uint64_t (*kernel)() noexcept;  // else: what the kernel keeps of the calling thread
};

constexpr Event kEvents[] = {
    {"instructions", "PAPI_TOT_INS", PERF_COUNT_HW_INSTRUCTIONS, nullptr},
    {"cycles", "PAPI_TOT_CYC", PERF_COUNT_HW_CPU_CYCLES, nullptr},
    {"cache-references", "PAPI_L3_TCA", PERF_COUNT_HW_CACHE_REFERENCES, nullptr},
    {"cache-misses", "PAPI_L3_TCM", PERF_COUNT_HW_CACHE_MISSES, nullptr},
    {"branches", "PAPI_BR_INS", PERF_COUNT_HW_BRANCH_INSTRUCTIONS, nullptr},
    {"branch-misses", "PAPI_BR_MSP", PERF_COUNT_HW_BRANCH_MISSES, nullptr},
    {"ref-cycles", "PAPI_REF_CYC", PERF_COUNT_HW_REF_CPU_CYCLES, nullptr},
    {"task-clock", nullptr, 0, &cpu_time},
    {"page-faults", nullptr, 0, &page_faults},
    {"context-switches", nullptr, 0, &context_switches},
};
constexpr int kEventCount = static_cast<int>(std::size(kEvents));
static_assert(kEventCount <= kMaxEvents);

class MachineCounters final : public CounterSource {
 public:
  Result<void> open(int event) override {
    const Event& entry = kEvents[event];
    if (entry.kernel != nullptr) return {};
    Result<std::unique_ptr<PerfEvent>> opened = PerfEvent::open(entry.config);
    if (!opened) return Failure{std::string("counter ") + entry.name + ": " + opened.message()};
    hardware_[static_cast<std::size_t>(event)] = *std::move(opened);
    return {};
  }
  void close(int event) noexcept override { hardware_[static_cast<std::size_t>(event)].reset(); }
  bool read(int event, std::uint64_t& value) noexcept override {
    const Event& entry = kEvents[event];
    if (entry.kernel == nullptr) return hardware_[static_cast<std::size_t>(event)]->read(value);
    value = entry.kernel();
    return true;
  }

 private:
  std::array<std::unique_ptr<PerfEvent>, kEventCount> hardware_;
};

}  // namespace

int find_event(std::string_view name) noexcept {
  for (int i = 0; i < kEventCount; ++i) {
    const Event& event = kEvents[i];
    if (name == event.name || (event.papi != nullptr && name == event.papi)) return i;
  }
  return -1;
}

const char* event_name(int event) noexcept {
  return kEvents[event].name;
}

std::string event_names() {
  std::string names;
  for (const Event& event : kEvents) {
    if (!names.empty()) names += ", ";
    names += event.name;
  }
  return names;
}

std::unique_ptr<CounterSource> machine_counters() {
  return std::make_unique<MachineCounters>();
}

}  // namespace tmpi::timers
