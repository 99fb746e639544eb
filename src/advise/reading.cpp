#include <fmt/core.h>

#include <algorithm>

#include "advise/advice.hpp"
#include "observe/call_class.hpp"

namespace tmpi::advise {
namespace {

using observe::CallClass;
using observe::CallTimes;
using observe::Profile;

// What a wake-up of the thread and a step of a protocol take of a core, if the profile does not say.
constexpr double kWakeUp = 10e-6;
constexpr double kStep = 1e-6;
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

// The model of virtualization is of the core that computes most: what it waits for is not that others are late, as long as
// it is the same core all the time.
void read_one_rank(Reading& reading, const Profile& profile) {
  const auto busiest = std::ranges::max_element(profile.workers, {}, &observe::ProfiledWorker::computing);
  const auto index = static_cast<int>(busiest - profile.workers.begin());
  std::vector<bool> here;  // by rank
  OneRank& one = reading.one_rank;
  for (const observe::ProfiledRank& rank : profile.ranks) {
    here.resize(std::max(here.size(), static_cast<std::size_t>(rank.rank) + 1));
    here[static_cast<std::size_t>(rank.rank)] = rank.worker == index;
    if (rank.worker == index) one.between += rank.between;
  }
  double known = busiest->computing;
  for (const observe::ProfiledCall& call : profile.calls) {
    const CallClass kind = observe::class_of(call.function);
    for (const observe::ProfiledCall::OfRank& rank : call.ranks) {
      if (static_cast<std::size_t>(rank.rank) >= here.size() || !here[static_cast<std::size_t>(rank.rank)])
        continue;
      known += rank.times.running() + rank.times.idle;
      if (kind == CallClass::kWait) one.waits += rank.times.idle;
      if (kind == CallClass::kBlocking) one.blocking += rank.times.idle;
      if (kind == CallClass::kWait) one.turns += static_cast<double>(rank.times.calls);
    }
  }
  one.rest = std::max(profile.seconds - known, 0.0);
  // Whatever ran, in whatever call.
  one.busy = std::max(profile.seconds - one.rest - one.waits - one.blocking, busiest->computing);
  const auto cores = static_cast<double>(profile.workers.size());
  const mpi::remote::ProtocolCounters& by = profile.network.protocols;
  one.moving = std::min(1e-9 * static_cast<double>(by.moving) / cores, one.waits + one.blocking);
  const auto asked = static_cast<double>(by.rendezvous), bytes = static_cast<double>(by.rendezvous_bytes);
  one.large = {.number = asked / cores,
               .bytes = asked > 0 ? bytes / asked : 0,
               .piece = static_cast<double>(by.piece),
               .step = by.step > 0 ? 1e-9 * static_cast<double>(by.step) : kStep,
               .wake_up = profile.network.wake_up > 0 ? profile.network.wake_up : kWakeUp};
  const auto nodes = static_cast<double>(std::max<std::size_t>(profile.hosts.size(), 1));
  if (by.rate > 0) reading.wire = bytes / nodes / static_cast<double>(by.rate);
  reading.can_read = by.can_read;
}

}  // namespace

Result<Reading> read(const Profile& profile) {
  if (profile.workers.empty() || profile.ranks.empty()) return Failure{"the profile has no ranks"};
  Reading reading;
  Measured& run = reading.run;
  const auto workers = static_cast<double>(profile.workers.size());
  const auto nodes = static_cast<double>(std::max<std::size_t>(profile.hosts.size(), 1));
  run.total = profile.seconds;
  run.cores = workers * profile.cores_per_worker / nodes;
  double busiest = 0;
  for (const observe::ProfiledWorker& worker : profile.workers) {
    run.computing += worker.computing / workers;
    busiest = std::max(busiest, worker.computing);
  }
  if (run.computing > 0) reading.imbalance = busiest / run.computing;
  for (const observe::ProfiledCall& call : profile.calls) {
    const CallClass kind = observe::class_of(call.function);
    add(place_of(run, kind), call.total, workers);
    if (kind == CallClass::kWait) reading.working_waits += call.total.running() / workers;
    if (call.total.calls > 0 && call.function.find("end") != std::string::npos)
      reading.largest_message = std::max(reading.largest_message, static_cast<double>(call.total.bytes) /
                                                                      static_cast<double>(call.total.calls));
  }
  for (const observe::ProfiledRank& rank : profile.ranks) reading.between += rank.between / workers;
  const double known = run.computing + run.blocking.time + run.nonblocking.time + run.test.time +
                       run.wait.time + run.other.time;
  // Belongs to nobody, and stays.
  reading.library = std::max(run.total - known, 0.0);
  run.other.time += reading.library;
  mend_waits(reading);
  doubt(reading, profile);
  reading.vratio = static_cast<double>(profile.ranks.size()) / workers;
  read_one_rank(reading, profile);
  return reading;
}

double exposed_waits(const Reading& reading) noexcept {
  const Calls& wait = reading.run.wait;
  return std::max(0.0, wait.time - wait.number * wait.shortest - reading.between);
}

double taken_by_thread(const Reading& reading) noexcept {
  return taken_by_messages(reading.one_rank, 1, Way::kBeside);
}

}  // namespace tmpi::advise
