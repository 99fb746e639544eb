#include <fmt/core.h>

#include <algorithm>

#include "advise/advice.hpp"
#include "observe/call_class.hpp"

namespace tmpi::advise {
namespace {

using observe::CallClass;
using observe::CallTimes;
using observe::Profile;

// What a wake-up of the thread and a step of a protocol take of a core, and how many of them a message that asks
// first needs at a node: RTS and the end of the data, or CTS and the end of its departure. An estimate.
constexpr double kStep = 8e-6;
constexpr double kSteps = 2;
// Waits all block if the shortest takes so much of the mean, and idles for so much of its time.
constexpr double kAllBlock = 0.25;

Calls& place_of(Measured& run, CallClass kind) {
  switch (kind) {
    case CallClass::kBlocking:
      return run.blocking;
    case CallClass::kNonblocking:
      return run.nonblocking;
    case CallClass::kTest:
      return run.test;
    case CallClass::kWait:
      return run.wait;
    case CallClass::kOther:
      break;
  }
  return run.other;
}

void add(Calls& calls, const CallTimes& times, double cores) {
  calls.number += static_cast<double>(times.calls) / cores;
  // What others have computed meanwhile is no loss.
  calls.time += (times.running() + times.idle) / cores;
  const auto lower = [](double& mine, double other) {
    if (other > 0) mine = mine > 0 ? std::min(mine, other) : other;
  };
  lower(calls.shortest, times.shortest);
  lower(calls.least, times.least);
}

// The model takes the shortest wait for one that had nothing to wait for. If even that has blocked, there was none:
// what it has run is taken instead.
void mend_waits(Reading& reading) {
  Calls& wait = reading.run.wait;
  if (wait.number == 0 || wait.number * wait.shortest < kAllBlock * wait.time ||
      wait.shortest < kAllBlock * wait.shortest + wait.least)
    return;
  reading.doubts.push_back(fmt::format(
      "every wait blocks: the shortest takes {:.3g} us, of which it runs {:.3g}. The model's hypothesis, "
      "that the shortest "
      "is one with nothing to wait for, fails; taken for that is what it runs, which no run has confirmed",
      1e6 * wait.shortest, 1e6 * wait.least));
  wait.shortest = wait.least;
}

void doubt(Reading& reading, const Profile& profile) {
  const Measured& run = reading.run;
  const double communication = run.nonblocking.time + run.test.time + run.wait.time;
  const auto note = [&](std::string sentence) { reading.doubts.push_back(std::move(sentence)); };
  if (run.nonblocking.number == 0)
    note(
        "the program initiates nothing: without changes to it (alpha = 0) there is nothing that progress "
        "could hide");
  if (run.wait.time > 0.02 * run.total && reading.between < 0.5 * run.wait.time) {
    note(fmt::format(
        "next to nothing is computed between initiation and wait ({:.3g} s of a core, waits take {:.3g} s): "
        "progress cannot hide more than that, and the model, which assumes that all is hidden, promises too "
        "much",
        reading.between, run.wait.time));
  }
  if (reading.working_waits > 0.3 * run.wait.time && reading.working_waits > 0.02 * run.total) {
    note(fmt::format(
        "waits work themselves for {:.0f} % of their time (copies, unpacking): they and the thread "
        "would compete for the same work",
        100 * reading.working_waits / run.wait.time));
  }
  if (reading.imbalance > 1.1 && communication + run.blocking.time > 0.02 * run.total) {
    note(fmt::format(
        "cores compute for different times (the busiest {:.2f} times the mean): waits for late ranks "
        "are no communication, and progress does not shorten them",
        reading.imbalance));
  }
  if (!profile.network.used())
    note("the job has one node process: inside of a node messages need no progress");
  if (profile.oversubscribed) note("workers share cores: times contain those of others");
  if (profile.ended_early) note("the job ended early");
  if (reading.library > 0.05 * run.total)
    note(fmt::format("{:.0f} % of the time is in no class of calls (start, end, other libraries' waits)",
                     100 * reading.library / run.total));
}

}  // namespace

Result<Reading> read(const Profile& profile) {
  if (profile.workers.empty() || profile.ranks.empty()) return Failure{"the profile has no ranks"};
  Reading reading;
  Measured& run = reading.run;
  const auto cores = static_cast<double>(profile.workers.size());
  const auto nodes = static_cast<double>(std::max<std::size_t>(profile.hosts.size(), 1));
  run.total = profile.seconds;
  run.cores = cores / nodes;
  double busiest = 0;
  for (const observe::ProfiledWorker& worker : profile.workers) {
    run.computing += worker.computing / cores;
    busiest = std::max(busiest, worker.computing);
  }
  if (run.computing > 0) reading.imbalance = busiest / run.computing;
  for (const observe::ProfiledCall& call : profile.calls) {
    const CallClass kind = observe::class_of(call.function);
    add(place_of(run, kind), call.total, cores);
    if (kind == CallClass::kWait) reading.working_waits += call.total.running() / cores;
    if (kind == CallClass::kWait) reading.one_rank.waits += call.total.idle / cores;
    if (kind == CallClass::kBlocking) reading.one_rank.blocking += call.total.idle / cores;
    if (call.total.calls > 0 && call.function.find("end") != std::string::npos)
      reading.largest_message = std::max(reading.largest_message, static_cast<double>(call.total.bytes) /
                                                                      static_cast<double>(call.total.calls));
  }
  for (const observe::ProfiledRank& rank : profile.ranks) reading.between += rank.between / cores;
  reading.rendezvous = static_cast<double>(profile.network.protocols.rendezvous) / cores;
  const double known = run.computing + run.blocking.time + run.nonblocking.time + run.test.time +
                       run.wait.time + run.other.time;
  // Belongs to nobody, and stays.
  reading.library = std::max(run.total - known, 0.0);
  run.other.time += reading.library;
  mend_waits(reading);
  doubt(reading, profile);
  reading.vratio = static_cast<double>(profile.ranks.size()) / cores;
  reading.one_rank.rest = reading.library;
  reading.one_rank.between = reading.between;
  reading.one_rank.moving = std::min(1e-9 * static_cast<double>(profile.network.protocols.moving) / cores,
                                     reading.one_rank.waits + reading.one_rank.blocking);
  // Whatever ran, in whatever call.
  reading.one_rank.busy = std::max(
      run.total - reading.library - reading.one_rank.waits - reading.one_rank.blocking, run.computing);
  return reading;
}

double exposed_waits(const Reading& reading) noexcept {
  const Calls& wait = reading.run.wait;
  return std::max(0.0, wait.time - wait.number * wait.shortest - reading.between);
}

double taken_by_thread(const Reading& reading) noexcept {
  return 2 * reading.rendezvous * kSteps * kStep;
}

}  // namespace tmpi::advise
