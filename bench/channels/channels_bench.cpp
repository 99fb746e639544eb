// What the channels between workers cost who does not use them: the switch of a fiber (at which its worker
// looks whether something has come) and the memory, with 2, 16 and 128 workers, all of which have talked to
// all others and are silent now. Counted and timed on one thread that plays the workers, so that two cores do
// for 128; and timed in a scheduler with so many workers, of which one has something to run.
//
//     bench_channels           a table; exit code 1 if 128 workers cost more than 1.2 x what 2 cost, or take
//     more than 16 MiB
#include <fmt/format.h>
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "mpi/p2p/channel.hpp"
#include "mpi/p2p/worker_channels.hpp"
#include "mpi/rank/rank.hpp"
#include "sched/scheduler.hpp"
#include "sched/waiter.hpp"
#include "timers/clock.hpp"

namespace {

namespace mpi = tmpi::mpi;
namespace sched = tmpi::sched;
namespace timers = tmpi::timers;

constexpr int kRepetitions = 400;
constexpr int kStreamed = 1000;  // messages of a pair that fills its ring

std::size_t allocated() {
  const struct mallinfo2 now = mallinfo2();
  return now.uordblks + now.hblkhd;
}

/// ns per operation of `operations` done by one call of `body`: the least, since others may use the machine.
double measure(long operations, const std::function<void()>& body) {
  std::vector<double> results;
  body();
  for (int i = 0; i < kRepetitions; ++i) {
    const std::uint64_t start = timers::now_ticks();
    body();
    results.push_back(timers::seconds(timers::now_ticks() - start) * 1e9 / static_cast<double>(operations));
  }
  return *std::min_element(results.begin(), results.end());
}

struct Figures {
  int workers = 0;
  int polled = 0;        // channels that a look looks at while all are dormant
  double look = 0;       // ns: a look that finds nothing
  double wake = 0;       // ns: a fiber wakes another one of its worker and blocks
  double megabytes = 0;  // of dormant channels
};

bool take(mpi::Slot&) noexcept {
  return true;
}

void send(mpi::WorkerChannels& channels, int from, int to) {
  mpi::Channel* const channel = channels.to(from, to);
  if (channel == nullptr) std::abort();
  mpi::Slot* slot = channels.free_slot(from, *channel);
  if (slot == nullptr) {
    if (!channels.flush<take>(from, to)) std::abort();
    slot = channels.free_slot(from, *channel);
  }
  slot->bytes = 8;
  channels.publish(from, *channel, *slot, to);
}

/// Everybody to everybody: a message, and `kStreamed` to a few.
void talk(int workers, const std::function<void(int from, int to)>& one) {
  for (int from = 0; from < workers; ++from) {
    for (int to = 0; to < workers; ++to) {
      if (to == from) continue;
      for (int i = 0; i < ((from + to) % 16 == 0 ? kStreamed : 1); ++i) one(from, to);
    }
  }
}

// The channels alone.
void look_at_channels(Figures& figures) {
  const std::size_t before = allocated();
  mpi::WorkerChannels channels(figures.workers);
  talk(figures.workers, [&](int from, int to) { send(channels, from, to); });
  long looks = 0;
  for (int worker = 0; worker < figures.workers; ++worker) {
    // At most two periods of silence until they rest.
    do {
      (void)channels.drain<take>(worker);
    } while (channels.polled(worker) > 1 && ++looks < 10'000'000);
    figures.polled = std::max(figures.polled, channels.polled(worker));
  }
  figures.megabytes = static_cast<double>(allocated() - before) / (1 << 20);
  constexpr long kLooks = 10'000;
  figures.look = measure(kLooks, [&] {
    for (long i = 0; i < kLooks; ++i) (void)channels.drain<take>(0);
  });
}

// Two fibers of a worker that wake each other and block. Not two that yield: where workers outnumber cores,
// yielding gives the core away too.
constexpr long kTurns = 4000;
sched::Waiter* turn[2] = {nullptr, nullptr};
bool done = false;

void take_turns(int self) {
  for (long i = 0; i < kTurns && !done; ++i) {
    sched::Waiter mine(1);
    turn[self] = &mine;
    if (sched::Waiter* const other = std::exchange(turn[1 - self], nullptr)) other->complete();
    mine.wait();
  }
}

// Workers with fibers and channels that have been used by MPI's messages: worker 0 has two fibers, the others
// have nothing to do and sleep.
void switch_fibers(Figures& figures) {
  const int workers = figures.workers;
  sched::Options options;
  options.workers = workers;
  options.tasks = 2;
  options.stack_size = 64 * 1024;
  options.bind = false;
  options.spin_microseconds = 0;
  auto scheduler = sched::Scheduler::create(options);
  if (!scheduler) {
    fmt::print(stderr, "{}\n", scheduler.message());
    std::exit(1);
  }
  mpi::Job& job = mpi::Job::create(mpi::Placement(workers));
  mpi::connect_workers(**scheduler);
  const char data[8] = {};
  const mpi::Outgoing outgoing{data, 8, *mpi::datatype_from(MPI_BYTE), 8};
  talk(workers, [&](int from, int to) {
    if (!mpi::post(from, to, *job.local(to), {1, from, 0}, outgoing, mpi::Way::kSlot))
      (void)mpi::flush(from, to);
  });
  for (int from = 0; from < workers; ++from) {
    for (int to = 0; to < workers; ++to) {
      if (to != from) (void)mpi::flush(from, to);
    }
  }
  (*scheduler)
      ->spawn(
          0,
          [](void* result) {
            for (int i = 0; i < 100; ++i) take_turns(0);  // channels fall silent
            *static_cast<double*>(result) = measure(2 * kTurns, [] { take_turns(0); });
            done = true;
            turn[1]->complete();
          },
          &figures.wake, nullptr);
  (*scheduler)
      ->spawn(
          0,
          [](void*) {
            while (!done) take_turns(1);
          },
          nullptr, nullptr);
  (*scheduler)->run();
}

// In a process of its own: there is one scheduler in a process.
Figures run(int workers) {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  const pid_t child = fork();
  if (child == 0) {
    Figures figures;
    figures.workers = workers;
    look_at_channels(figures);
    switch_fibers(figures);
    _exit(write(ends[1], &figures, sizeof figures) == sizeof figures ? 0 : 1);
  }
  close(ends[1]);
  Figures figures;
  if (read(ends[0], &figures, sizeof figures) != sizeof figures) {
    fmt::print(stderr, "with {} workers: no figures\n", workers);
    std::exit(1);
  }
  close(ends[0]);
  (void)waitpid(child, nullptr, 0);
  return figures;
}

}  // namespace

int main() {
  // A look loads the word of announcements, the worker's own line, and of each polled channel the reader's
  // line and the next slot.
  const auto lines = [](const Figures& figures) { return 2 + 2 * figures.polled; };
  fmt::print("{:>8} {:>20} {:>16} {:>20} {:>14}\n", "workers", "cache lines a look", "a look",
             "wake, block, switch", "memory");
  Figures two, many;
  for (const int workers : {2, 16, 128}) {
    const Figures figures = run(workers);
    fmt::print("{:>8} {:>20} {:>13.1f} ns {:>17.1f} ns {:>10.2f} MiB\n", workers, lines(figures),
               figures.look, figures.wake, figures.megabytes);
    if (workers == 2) two = figures;
    many = figures;
  }
  const double ratio = many.wake / two.wake;
  const bool fine = ratio <= 1.2 && lines(many) <= lines(two) && many.megabytes <= 16;
  fmt::print(
      "a switch with {} workers: {:.2f} x that with 2 (at most 1.20); dormant channels: {:.1f} MiB (at most "
      "16)\n",
      many.workers, ratio, many.megabytes);
  return fine ? 0 : 1;
}
