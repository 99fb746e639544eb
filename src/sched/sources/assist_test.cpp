// Work that an idle worker takes part in: nothing done twice or left out, whoever comes and goes meanwhile.
#include "sched/assist.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include "sched/scheduler.hpp"
#include "sched/test_support.hpp"
#include "timers/clock.hpp"

namespace tmpi::sched {
namespace {

using test::Event;
using test::Job;

/// Pieces that are counted, by whom.
class Pieces : public Assist {
 public:
  explicit Pieces(int pieces) : Assist(step_of), done(static_cast<std::size_t>(pieces)) {}

  std::vector<std::atomic<int>> done;  ///< how often each
  std::atomic<int> by_worker[2] = {};

 private:
  static bool step_of(Assist& work, By) noexcept {
    auto& self = static_cast<Pieces&>(work);
    const std::size_t piece = self.next_.fetch_add(1, std::memory_order_relaxed);
    if (piece >= self.done.size()) return false;
    self.done[piece].fetch_add(1, std::memory_order_relaxed);
    const int worker = current_worker();
    if (worker == 0 || worker == 1) self.by_worker[worker].fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  std::atomic<std::size_t> next_{0};
};

TEST_CASE("A point takes an offer only while its worker looks, and one at a time") {
  AssistPoint point;
  Pieces first(1), second(1);
  CHECK_FALSE(point.offer(first));
  point.look();
  CHECK(point.offer(first));
  CHECK_FALSE(point.offer(second));
  point.conclude(first);  // taken back: nobody has come
  CHECK(point.offer(second));
  CHECK(point.assist([] { return true; }));
  CHECK(second.done[0] == 1);
  point.conclude(second);
  CHECK_FALSE(point.assist([] { return true; }));
  point.look_away();
  CHECK_FALSE(point.offer(first));
}

TEST_CASE("Who looks away declines what has been offered, and stops when it has something to run") {
  AssistPoint point;
  Pieces work(10);
  point.look();
  CHECK(point.offer(work));
  point.look_away();
  point.conclude(work);  // does not wait
  CHECK(work.done[0] == 0);
  Pieces other(10);
  point.look();
  CHECK(point.offer(other));
  CHECK(point.assist([] { return false; }));
  CHECK(other.done[0] == 1);
  CHECK(other.done[1] == 0);
  point.conclude(other);
}

TEST_CASE("Who has missed an offer knows it until it has looked for a while and none comes") {
  AssistPoint point;
  Pieces work(1);
  point.look();
  point.look_away();
  CHECK_FALSE(point.missed());
  CHECK_FALSE(point.offer(work));
  CHECK(point.missed());
  for (int round = 0; round < 2; ++round) {
    Pieces more(1);
    point.look();
    CHECK(point.offer(more));
    CHECK(point.assist([] { return true; }));
    point.conclude(more);
    point.look_away();
    CHECK(point.missed());
  }
  for (int times = 0; times < AssistPoint::kPatience; ++times) {
    CHECK(point.missed());
    point.look();
    point.look_away();
  }
  CHECK_FALSE(point.missed());
}

TEST_CASE("Every piece is done once while assistants come and go") {
  AssistPoint point;
  std::atomic<bool> over{false};
  std::thread assistant([&] {
    for (int round = 0; !over.load(); ++round) {
      point.look();
      for (int i = 0; i < round % 7; ++i) point.assist([&] { return i % 3 != 0; });
      if (round % 2 == 0) point.look_away();
    }
    point.look_away();
  });
  for (int round = 0; round < 2000; ++round) {
    Pieces work(16);
    bool offered = point.offer(work);
    while (work.step())
      if (!offered) offered = point.offer(work);
    if (offered) point.conclude(work);
    for (const auto& times : work.done) REQUIRE(times == 1);
  }
  over = true;
  assistant.join();
}

TEST_CASE("An idle worker takes part in another's work, also one that sleeps and is asked") {
  Job job({.workers = 2, .tasks = 2, .stack_size = 64 * 1024, .bind = false, .spin_microseconds = 2000});
  if (job->oversubscribed()) {
    MESSAGE("one CPU: idle workers do not look for work");
    return;
  }
  Event end;
  // Offers until worker 1 has done a piece, for at most ten seconds.
  const auto is_assisted = [&] {
    AssistPoint& point = job->assist_point(1);
    const std::uint64_t limit = timers::now_ticks() + timers::ticks(10);
    while (timers::now_ticks() < limit) {
      Pieces work(20'000);
      bool offered = point.offer(work);
      if (!offered) {
        point.request();
        job->wake_if_parked(1);
      }
      while (work.step())
        if (!offered) offered = point.offer(work);
      if (offered) point.conclude(work);
      if (work.by_worker[1] > 0) return true;
    }
    return false;
  };
  bool awake = false, asleep = false;
  job.spawn(1, [&] { end.wait(); });
  job.spawn(0, [&] {
    awake = is_assisted();
    const std::uint64_t limit = timers::now_ticks() + timers::ticks(0.05);
    while (timers::now_ticks() < limit) {
    }
    asleep = is_assisted();  // it spins for 2 ms
    end.complete();
  });
  job.run();
  CHECK(awake);
  CHECK(asleep);
}

}  // namespace
}  // namespace tmpi::sched
