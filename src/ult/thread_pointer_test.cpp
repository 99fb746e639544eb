#include "ult/thread_pointer.hpp"

#include <doctest/doctest.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <functional>
#include <thread>

#include "base/of_thread.hpp"
#include "ult/stack_arena.hpp"
#include "ult/switch.hpp"

// Sanitizers have their own ideas of thread-locals.
#if !defined(TMPI_ASAN) && !defined(TMPI_TSAN)

namespace tmpi::ult {
namespace {

thread_local int value = 1;
thread_local int* shared = nullptr;  // the same for a thread as long as it runs fibers

/// A thread that sleeps, for its thread control block.
class Sleeper {
 public:
  Sleeper() {
    while (!ready_.load(std::memory_order_acquire)) std::this_thread::yield();
  }
  ~Sleeper() {
    *pointer.to_own = 0;
    over_.store(true, std::memory_order_release);
    over_.notify_one();
    thread_.join();
  }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

  ThreadPointer pointer;
  int thread_id = 0;  // stands for libc's

 private:
  std::atomic<bool> ready_{false}, over_{false};
  std::thread thread_{[this] {
    pointer = {.pointer = reinterpret_cast<void*>(thread_pointer()),
               .state = FiberState::here(),
               .thread_id = &thread_id,
               .to_own = &to_own_thread,
               .right_for = 0};
    ready_.store(true, std::memory_order_release);
    over_.wait(false, std::memory_order_acquire);
  }};
};

struct Flow : Fiber {
  std::function<void()> body;
  Thread* thread = nullptr;
  Fiber* back = nullptr;
  void leave() { thread = &switch_to(*thread, *this, *back); }
};

void run_on(Flow& flow, Thread& thread, Fiber& root) {
  flow.thread = &thread;
  flow.back = &root;
  switch_to(thread, root, flow);
}

TEST_CASE("a fiber with a thread pointer of its own keeps its thread-locals, on whatever thread") {
  struct Instruction {
    ~Instruction() { detail::has_instruction = there; }
    const bool there = detail::has_instruction;
  } const instruction;
  SUBCASE("by the processor's instruction, where it has it") {}
  SUBCASE("by a system call") {
    detail::has_instruction = false;
  }
  static const bool told = (copy_for_pointers(shared), true);
  CHECK(told);
  auto arena = StackArena::create({.count = 2, .size = 64 * 1024});
  REQUIRE(arena);
  Sleeper sleeper;
  Flow own, other;
  int steps = 0;
  own.body = [&] {
    int* const place = &value;
    int* const error = &errno;
    const pthread_t self = pthread_self();
    value = 2;
    for (; steps < 4; ++steps) {
      errno = 100 + steps;
      own.leave();
      CHECK(value == 2);
      CHECK(place == &value);
      CHECK(error == &errno);
      CHECK(errno == 100 + steps);
      CHECK(pthread_equal(self, pthread_self()));
      CHECK(of_thread(value) == 1);
      CHECK(&of_thread(value) != place);
      CHECK(*shared == gettid());
      CHECK(sleeper.thread_id == gettid());
    }
  };
  other.body = [&] {
    for (;;) {
      CHECK(value == 1);
      CHECK(&of_thread(value) == &value);
      other.leave();
    }
  };
  own.run_with(&sleeper.pointer);
  int number = 0;
  for (Flow* flow : {&own, &other}) {
    flow->stack = (*arena)->stack(number++);
    prepare(*flow, [](Fiber& self) noexcept {
      Flow& me = static_cast<Flow&>(self);
      me.body();
      abandon_to(*me.thread, me, *me.back);
    });
  }
  for (int turn = 0; turn < 5; ++turn) {
    std::thread([&] {
      int id = gettid();
      shared = &id;
      Thread thread;
      Fiber root;
      attach(thread, root);
      thread.takes_pointers = true;
      errno = 7;
      run_on(own, thread, root);
      CHECK(errno == 7);
      CHECK(value == 1);
      CHECK(thread.in_force == nullptr);
      if (turn == 0) run_on(other, thread, root);
      detach(root);
    }).join();
  }
  CHECK(steps == 4);
  for (Flow* flow : {&own, &other}) release(*flow);
}

}  // namespace
}  // namespace tmpi::ult

#endif
