#include "launch/node/slot_watch.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "base/own_thread.hpp"
#include "launch/control/control.hpp"
#include "launch/node/blocking_call.hpp"
#include "launch/node/ready_ranks.hpp"
#include "launch/node/slot_signal.hpp"
#include "launch/wire/rank_ranges.hpp"
#include "mpi/rank/rank.hpp"
#include "observe/line_numbers.hpp"
#include "privatize/loader.hpp"
#include "sched/sleep.hpp"
#include "sched/slot.hpp"

namespace tmpi::launch {
namespace {

constexpr std::uint64_t kMilli = 1'000'000;  // ns
// Who spins is named after the first; who computes, as far as anybody can tell, after the second: many programs do so for
// seconds, and nothing is wrong with them.
constexpr std::uint64_t kSpinning = 1000 * kMilli;
constexpr std::uint64_t kComputing = 5000 * kMilli;
constexpr std::uint64_t kBetweenLooks = 250 * kMilli;

// How a loop that only looks differs from one that computes: it comes by the same few instructions with the same values, but
// for what it looks at, a counter, and perhaps what it has loaded.
constexpr int kSamples = 6;
constexpr std::uint64_t kLoop = 512;  // bytes of code
constexpr int kChanging = 3;          // registers

bool looks_like_spinning(const std::vector<SlotSample>& samples) noexcept {
  const auto [least, most] = std::ranges::minmax_element(samples, {}, &SlotSample::instruction);
  if (most->instruction - least->instruction > kLoop) return false;
  int changing = 0;
  for (int i = 0; i < SlotSample::kRegisters; ++i) {
    const auto differs = [&](const SlotSample& one) {
      return one.registers[i] != samples.front().registers[i];
    };
    if (std::ranges::any_of(samples, differs)) ++changing;
  }
  return changing <= kChanging && std::ranges::all_of(samples, [&](const SlotSample& one) {
           return memcmp(one.vectors, samples.front().vectors, SlotSample::kVectorBytes) == 0;
         });
}

/// "wait_for_flag (spin.c:14)", "solve+0x1c (heat)".
std::string describe_place(std::uint64_t instruction) {
  const privatize::ImageAddress at = privatize::describe_address(reinterpret_cast<const void*>(instruction));
  if (at.object == nullptr) return "a library that ranks share";
  static observe::LineNumbers lines;
  const auto base_name = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
  if (const auto line = lines.find(at.object, at.offset)) {
    const std::string function = !line->function.empty() ? line->function
                                 : at.symbol != nullptr  ? at.symbol
                                                         : "?";
    return fmt::format("{} ({}:{})", function, base_name(line->file), line->number);
  }
  if (at.symbol == nullptr) return fmt::format("{:#x} ({})", at.offset, base_name(at.object));
  return fmt::format("{}+{:#x} ({})", at.symbol, at.symbol_offset, base_name(at.object));
}

class SlotWatch {
 public:
  SlotWatch(const sched::Scheduler& scheduler, const SlotLimits& limits)
      : scheduler_(scheduler),
        preempt_after_(static_cast<std::uint64_t>(limits.preempt_milliseconds) * kMilli),
        said_(limits.quiet),
        slots_(static_cast<std::size_t>(scheduler.workers())) {}

  [[noreturn]] void loop() noexcept {
    const std::uint64_t rest =
        preempt_after_ == 0 ? kBetweenLooks : std::min(kBetweenLooks, preempt_after_ / 2);
    for (;;) {
      const timespec time{0, static_cast<long>(rest)};
      nanosleep(&time, nullptr);
      for (int i = 0; i < scheduler_.workers(); ++i) look(i);
    }
  }

 private:
  struct Slot {
    std::uint64_t switches = 0;
    std::uint64_t began = 0;     // ns
    std::uint64_t run_then = 0;  // ns that the thread had run
    bool sampled = false;
  };

  void look(int worker) noexcept {
    Slot& slot = slots_[static_cast<std::size_t>(worker)];
    const std::uint64_t now = sched::monotonic_now();
    const auto [switches, thread, has_ready] = sched::slot_of(worker);
    if (switches != slot.switches) {
      slot = {switches, now, time_run(thread)};
      return;
    }
    const std::uint64_t length = now - slot.began;
    const bool preempts = preempt_after_ != 0 && length >= preempt_after_ && scheduler_.residents(worker) > 1;
    const bool tells = !said_ && length >= kSpinning && has_ready;
    if (thread == 0 || (!preempts && !tells)) return;
    // Who waits in the system is another's affair (held_cores.hpp), and its calls are not to be interrupted.
    const std::uint64_t run = time_run(thread);
    if (run - slot.run_then < length / 20) return;
    if (tells && (length >= kComputing || !slot.sampled)) tell(worker, thread, slot, length);
    if (preempts) preempt_thread(thread);
  }

  void tell(int worker, int thread, Slot& slot, std::uint64_t length) noexcept try {
    slot.sampled = true;
    std::vector<SlotSample> samples;
    for (int i = 0; i < kSamples; ++i) {
      const auto sample = sample_thread(thread);
      if (!sample || sample->rank < 0 || sample->in_library) return;
      samples.push_back(*sample);
    }
    if (length < kComputing && !looks_like_spinning(samples)) return;
    const auto ready = ready_ranks(scheduler_, worker);
    if (sched::slot_of(worker).switches != slot.switches) return;
    said_ = true;
    // Rather its own code than what it has called.
    const auto own = std::ranges::find_if(samples, [](const SlotSample& one) {
      return privatize::describe_address(reinterpret_cast<const void*>(one.instruction)).object != nullptr;
    });
    const SlotSample& shown = own != samples.end() ? *own : samples.front();
    Control::instance()->notice(
        NoticeKind::kRunsOn,
        fmt::format(
            "note: rank {} on host {} has run for {:.1f} seconds without coming to MPI or giving way, in {}, "
            "where {} could run. If it computes, nothing is wrong. If it waits for one of them, it waits for "
            "ever: let them run by sched_yield() or MPI in that loop, {}",
            shown.rank, mpi::job()->host(), 1e-9 * static_cast<double>(length),
            describe_place(shown.instruction), ready.empty() ? "others" : rank_ranges(ready),
            preempt_after_ == 0 ? "or now and then by --preempt 10"
                                : "since --preempt never finds it in its own code with nobody's lock"));
  } catch (...) {
    // Without memory nothing is said.
  }

  const sched::Scheduler& scheduler_;
  const std::uint64_t preempt_after_;  // ns; 0: never
  bool said_;
  std::vector<Slot> slots_;
};

}  // namespace

void watch_slots(const sched::Scheduler& scheduler, const SlotLimits& limits) noexcept {
  if (limits.quiet && limits.preempt_milliseconds == 0) return;
  if (!install_slot_handler()) return;
  auto* const watch = new (std::nothrow) SlotWatch(scheduler, limits);
  const auto run = [](void* self) -> void* {
    pthread_setname_np(pthread_self(), "tmpi-slots");
    static_cast<SlotWatch*>(self)->loop();
  };
  if (watch == nullptr || start_own_thread(run, watch)) return;
  delete watch;
  if (limits.preempt_milliseconds != 0)
    Control::instance()->notice(NoticeKind::kWarning,
                                "warning: --preempt has no effect: a thread could not be started");
}

}  // namespace tmpi::launch
