#include "advise/virtualization.hpp"

#include <algorithm>
#include <cmath>

namespace tmpi::advise {
namespace {

// RTS, CTS and DATA, each posted at one end and taken in at the other; a core does both for as many.
constexpr double kStepsOfRendezvous = 6;
constexpr double kStepsOfHandshake = 4;  // RTS with CTS, or with FIN
constexpr double kStepsOfEager = 2;
// A thread wakes up less often than there are steps: once for what comes and what leaves. Counted (docs/design/advice.md).
constexpr double kWakeUpsPerPiece = 1.1;     // that is sent, and one that comes
constexpr double kWakeUpsPerStep = 0.7;      // of a handshake: RTS and CTS
constexpr double kWakeUpsPerReadStep = 0.4;  // RTS and FIN

}  // namespace

double taken_by_messages(const OneRank& run, int vratio, Way way) noexcept {
  const Large& large = run.large;
  const double number = vratio * large.number;
  const double pieces = large.piece > 0 ? number * std::ceil(large.bytes / vratio / large.piece) : number;
  // What the profiled run has done, `moving`, has so many in it.
  const double known = large.number * kStepsOfRendezvous;
  double steps = number * kStepsOfRendezvous, wake_ups = 0, copies = 0;
  switch (way) {
    case Way::kAtSchedulingPoints:
      break;
    case Way::kUnasked:
      steps = number * kStepsOfEager;
      // Out of where it has come unasked, beside the two that rendezvous has as well.
      copies = std::max(0.0, run.moving - known * large.step) / 2;
      break;
    case Way::kBeside:
      steps = number * kStepsOfHandshake + 2 * pieces;
      wake_ups = number * kStepsOfHandshake * kWakeUpsPerStep + pieces * kWakeUpsPerPiece;
      break;
    case Way::kReadBeside:
      steps = number * kStepsOfHandshake + pieces;
      wake_ups = number * kStepsOfHandshake * kWakeUpsPerReadStep + pieces * kWakeUpsPerPiece;
      break;
  }
  return std::max(0.0, run.moving + (steps - known) * large.step + copies + wake_ups * large.wake_up);
}

// docs/design/overlap.md, "With a progress thread": a core does the work of all its ranks one after the other, the wire their
// transfers; and no rank goes on before it has computed, been asked, which takes a slot where that is done at scheduling
// points, and been sent to.
double with_ranks_per_core(const OneRank& run, int vratio, Way way) noexcept {
  const double hidden = way == Way::kAtSchedulingPoints ? 0 : std::min(run.waits, run.between);
  const double transfers = run.waits + run.blocking;
  const double exposed = transfers - hidden;
  const double taken = taken_by_messages(run, vratio, way);
  // What was done in idle time, and is done while others compute, takes their core.
  if (vratio <= 1) {
    const double share = transfers > 0 ? hidden / transfers : 0;
    return run.rest + run.busy + share * taken + exposed;
  }
  const double busy = run.busy + taken;
  const double slot = way == Way::kAtSchedulingPoints ? busy : 0;
  // Before the first transfer nothing is under way, and after the last turn nothing is computed.
  const double ends = run.turns > 0 ? std::min(busy, exposed) / (vratio * run.turns) : 0;
  return run.rest + std::max({busy, transfers, (busy + slot + exposed) / vratio}) + ends;
}

}  // namespace tmpi::advise
