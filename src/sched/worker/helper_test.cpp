// Helper fibers: they run at once, go on when their task is elsewhere, are recycled, and may be left behind.
#include "sched/helper.hpp"

#include <atomic>
#include <vector>

#include "sched/test_support.hpp"
#include "sched/worker/worker.hpp"

namespace tmpi::sched::test {
namespace {

// A helper from a lambda; the lambda must outlive it.
template <class Work>
bool serve(Work& work) {
  return run_helper([](void* argument) { (*static_cast<Work*>(argument))(); }, &work);
}

TEST_CASE("a helper that does not wait has finished when run_helper returns") {
  Job job({.workers = 1, .tasks = 1, .bind = false});
  std::vector<int> order;
  job.spawn(0, [&] {
    for (int i = 0; i < 1000; ++i) {
      order.clear();
      auto work = [&] { order.push_back(1); };
      CHECK(serve(work));
      order.push_back(2);
      CHECK(order == std::vector<int>{1, 2});
    }
    CHECK(this_worker()->helpers().made() == 4);  // one, used again and again
  });
  job.run();
}

TEST_CASE("a helper belongs to its task's owner and is no task of the scheduler") {
  Job job({.workers = 1, .tasks = 2, .bind = false});
  int owner = 0;
  const void* seen = nullptr;
  Task& task = job.spawn(0, [&] {
    auto work = [&] {
      seen = current()->owner;
      CHECK(current()->kind == TaskKind::kHelper);
    };
    CHECK(serve(work));
    CHECK(current()->kind == TaskKind::kRank);
  });
  task.owner = &owner;
  job.run();
  CHECK(seen == &owner);
  CHECK(job->tasks() == 1);
}

TEST_CASE("a helper goes on while its task waits, computes or has finished; nobody runs before the caller") {
  for (const char* policy : {"fifo", "lifo", "random:5"}) {
    Job job({.workers = 1, .tasks = 3, .policy = policy, .bind = false});
    Event begun, asked, answered;
    int steps = 0;
    bool others_ran = false;
    auto work = [&] {
      ++steps;
      asked.wait();
      ++steps;
      answered.complete();
      yield();
      ++steps;
    };
    job.spawn(0, [&] {
      others_ran = false;
      CHECK(serve(work));
      CHECK_FALSE(others_ran);
      CHECK(steps == 1);
      begun.complete();
      answered.wait();
      CHECK(steps >= 2);
    });
    job.spawn(0, [&] { others_ran = true; });
    job.spawn(0, [&] {
      begun.wait();
      asked.complete();
    });
    job.run();
    CHECK(steps >= 2);
  }
}

TEST_CASE("a helper may yield and start helpers before its caller goes on") {
  Job job({.workers = 1, .tasks = 2, .bind = false});
  std::vector<int> order;
  Event end;
  auto inner = [&] {
    order.push_back(2);
    yield();
    order.push_back(5);
    end.complete();
  };
  auto outer = [&] {
    order.push_back(1);
    CHECK(serve(inner));
    order.push_back(3);
  };
  job.spawn(0, [&] {
    CHECK(serve(outer));
    order.push_back(4);
    end.wait();
    order.push_back(6);
  });
  job.run();
  CHECK(order == std::vector<int>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("helpers that still wait when all tasks have finished are left behind") {
  for (int workers : {1, 2, 3}) {
    Job job({.workers = workers, .tasks = workers, .bind = false});
    std::atomic<int> waiting{0};
    auto work = [&] {
      ++waiting;
      Waiter waiter(1);
      waiter.wait();
    };
    for (int i = 0; i < workers; ++i) {
      job.spawn(i, [&] {
        for (int k = 0; k < 10; ++k) CHECK(serve(work));
        for (int k = 0; k < 10; ++k) yield();
      });
    }
    job.run();
    CHECK(waiting == 10 * workers);
  }
}

TEST_CASE("helpers wait for each other across workers") {
  constexpr int kRounds = 300;
  Job job({.workers = 2, .tasks = 2, .bind = false});
  std::vector<Event> first(kRounds), second(kRounds);
  Event ends[2];
  auto ping = [&] {
    for (int i = 0; i < kRounds; ++i) {
      first[index(i)].complete();
      second[index(i)].wait();
    }
    ends[0].complete();
  };
  auto pong = [&] {
    for (int i = 0; i < kRounds; ++i) {
      first[index(i)].wait();
      second[index(i)].complete();
    }
    ends[1].complete();
  };
  job.spawn(0, [&] {
    CHECK(serve(ping));
    ends[0].wait();
  });
  job.spawn(1, [&] {
    CHECK(serve(pong));
    ends[1].wait();
  });
  job.run();
}

TEST_CASE("the guard page of a helper's stack is known") {
  Job job({.workers = 1, .tasks = 1, .bind = false});
  job.spawn(0, [&] {
    auto work = [&] {
      const Task* self = current();
      CHECK(job->guard_page_owner(self->stack.base - 1) == self);
      CHECK(job->guard_page_owner(self->stack.base) == nullptr);
    };
    CHECK(serve(work));
  });
  job.run();
}

}  // namespace
}  // namespace tmpi::sched::test
