#include "sched/loop/policy.hpp"

#include <string>
#include <vector>

#include "sched/test_support.hpp"

namespace tmpi::sched {
namespace {

using test::Job;

/// The order in which `count` tasks take their turns when each yields `yields` times.
std::string order(const std::string& policy, int count, int yields) {
  Job job({.tasks = count, .policy = policy, .bind = false});
  std::string trace;
  for (int i = 0; i < count; ++i) {
    job.spawn(0, [&, i] {
      for (int turn = 0; turn <= yields; ++turn) {
        if (turn > 0) yield();
        trace += static_cast<char>('a' + i);
      }
    });
  }
  job.run();
  return trace;
}

TEST_CASE("fifo: first come, first served") {
  CHECK(order("fifo", 4, 2) == "abcdabcdabcd");
}

TEST_CASE("lifo: the last made ready first, yielding tasks after all others") {
  CHECK(order("lifo", 4, 0) == "dcba");
  CHECK(order("lifo", 3, 1) == "cbacba");
}

TEST_CASE("random: every task gets its turns, the seed decides the order") {
  const std::string first = order("random:1", 8, 20);
  CHECK(first.size() == 8 * 21);
  CHECK(order("random:1", 8, 20) == first);
  CHECK(order("random:2", 8, 20) != first);
}

TEST_CASE("random picks uniformly from the ready set") {
  auto policy = make_policy("random:7", 0, 5);
  REQUIRE(policy);
  std::vector<Task> tasks(5);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks[i].id = static_cast<std::uint32_t>(i);
    (*policy)->push(tasks[i]);
  }
  int counts[5] = {};
  constexpr int kDraws = 100'000;
  for (int i = 0; i < kDraws; ++i) {
    Task* task = (*policy)->pop();
    ++counts[task->id];
    (*policy)->push(*task);
  }
  double chi_squared = 0;
  for (const int count : counts)
    chi_squared += (count - kDraws / 5.0) * (count - kDraws / 5.0) / (kDraws / 5.0);
  CHECK(chi_squared < 18.5);  // 99.9 % quantile, 4 degrees of freedom
}

TEST_CASE("random: more tasks than it was made for, once it has room for them") {
  auto policy = make_policy("random:7", 0, 2);
  REQUIRE(policy);
  std::vector<Task> tasks(1000);
  REQUIRE((*policy)->reserve(998));
  for (Task& task : tasks) (*policy)->push(task);
  for (std::size_t i = 0; i < tasks.size(); ++i) CHECK((*policy)->pop() != nullptr);
  CHECK((*policy)->empty());
}

TEST_CASE("unknown policies are refused with the choices") {
  for (const char* name : {"", "FIFO", "random", "random:", "random:x", "random:1x", "random:-1",
                           "random:99999999999999999999"}) {
    auto policy = make_policy(name, 0, 1);
    REQUIRE_FALSE(policy);
    CHECK(policy.message().find("choose fifo, lifo or random:SEED") != std::string::npos);
  }
  auto scheduler = Scheduler::create({.policy = "round-robin"});
  REQUIRE_FALSE(scheduler);
  CHECK(scheduler.message().find("'round-robin'") != std::string::npos);
}

}  // namespace
}  // namespace tmpi::sched
