// Which predictions of the table of ranks per core rest on something that the profile does not show to be so.
#include <fmt/core.h>

#include <algorithm>

#include "advise/advice.hpp"

namespace tmpi::advise {
namespace {

// Limits of what is still within 5 %: measured by bench/progress-core and bench/overlap (docs/design/advice.md).
constexpr double kLongWaits = 1.25;     // waits over what the wire needs
constexpr double kShortWire = 0.7;      // transfers over computing, if steps wait for slots
constexpr double kShorterWire = 0.5;    // the same, of more than two ranks per core: slots are shorter
constexpr double kMuchHandling = 0.15;  // steps and wake-ups, which are estimated, over computing
constexpr double kCoupled = 0.1;        // blocking calls over all that is idle
constexpr double kNothing = 0.02;       // of the time: cannot be wrong by more

bool is_other(int vratio, Way way) noexcept {
  return vratio > 1 || way != Way::kAtSchedulingPoints;
}

}  // namespace

std::vector<Doubt> doubts_of_vratios(const Reading& reading) {
  const OneRank& run = reading.one_rank;
  const double idle = run.waits + run.blocking;
  std::vector<Doubt> doubts;
  const auto note = [&](std::string sentence, bool (*concerns)(int, Way) noexcept) {
    doubts.push_back({static_cast<char>('a' + doubts.size()), std::move(sentence), concerns});
  };
  if (idle < kNothing * reading.run.total) return doubts;
  if (reading.wire > 0 && idle > kLongWaits * reading.wire) {
    note(fmt::format("the busiest core waits for {:.3g} s, but the wire needs {:.3g} s for what its node "
                     "sends: the rest "
                     "are waits for late ranks, or of one direction for the other, and what becomes of those "
                     "is not known",
                     idle, reading.wire),
         is_other);
  }
  if (reading.wire == 0)
    note(
        "how quick the wire is is not known (no large message has asked first): waits are taken for "
        "transfers",
        is_other);
  const double transfers = reading.wire > 0 ? std::min(reading.wire, idle) : idle;
  if (transfers > kShorterWire * run.busy) {
    note(
        fmt::format("transfers take {:.2f} of the computation: steps at scheduling points then come too "
                    "late now and then, "
                    "as nodes drift apart by more than is left of a slot",
                    transfers / run.busy),
        transfers > kShortWire * run.busy
            ? [](int vratio, Way way) noexcept { return vratio > 1 && way == Way::kAtSchedulingPoints; }
            : [](int vratio, Way way) noexcept { return vratio > 2 && way == Way::kAtSchedulingPoints; });
  }
  if (taken_by_messages(run, 1, Way::kBeside) > kMuchHandling * run.busy) {
    note(fmt::format("the thread's steps and wake-ups, estimated, come to {:.0f} % of the computation",
                     100 * taken_by_messages(run, 1, Way::kBeside) / run.busy),
         [](int, Way way) noexcept { return way == Way::kBeside || way == Way::kReadBeside; });
  }
  if (run.blocking > kCoupled * idle) {
    note(fmt::format("blocking calls wait for {:.3g} s: ranks that they keep together do not run ahead of "
                     "each other, as "
                     "ranks of one core have to",
                     run.blocking),
         [](int vratio, Way) noexcept { return vratio > 1; });
  }
  return doubts;
}

}  // namespace tmpi::advise
