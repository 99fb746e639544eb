#include "ult/switch.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <cfenv>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "ult/stack_arena.hpp"

namespace tmpi::ult {
namespace {

#if defined(TMPI_ASAN) || defined(TMPI_TSAN)
constexpr int kMany = 200;
#else
constexpr int kMany = 10'000;
#endif

/// A few fibers around the test's own flow of control, resumed by hand.
class Fibers {
 public:
  explicit Fibers(int count, std::size_t size = 64 * 1024) : items_(static_cast<std::size_t>(count)) {
    auto arena = StackArena::create({.count = count, .size = size});
    REQUIRE(arena);
    arena_ = *std::move(arena);
    attach(thread_, main_);
    for (int i = 0; i < count; ++i) {
      Item& item = items_[static_cast<std::size_t>(i)];
      item.home = this;
      item.stack = arena_->stack(i);
      prepare(item, [](Fiber& self) noexcept {
        Item& me = static_cast<Item&>(self);
        me.body();
        me.finished = true;
        abandon_to(me.home->thread_, me, me.home->main_);
      });
    }
  }
  ~Fibers() {
    for (Item& item : items_) release(item);
    detach(main_);
  }
  void body(int i, std::function<void()> f) { items_[static_cast<std::size_t>(i)].body = std::move(f); }
  void resume(int i) { switch_to(thread_, main_, items_[static_cast<std::size_t>(i)]); }
  /// Called by fiber i: back to the test.
  void suspend(int i) { switch_to(thread_, items_[static_cast<std::size_t>(i)], main_); }
  bool finished(int i) const { return items_[static_cast<std::size_t>(i)].finished; }
  const StackArena& arena() const { return *arena_; }

 private:
  struct Item : Fiber {
    Fibers* home = nullptr;
    std::function<void()> body;
    bool finished = false;
  };
  std::unique_ptr<StackArena> arena_;
  Thread thread_;
  Fiber main_;
  std::vector<Item> items_;
};

TEST_CASE("control goes there and back, fibers end") {
  Fibers fibers(2);
  std::string trace;
  for (int i = 0; i < 2; ++i) {
    fibers.body(i, [&, i] {
      trace += static_cast<char>('a' + i);
      fibers.suspend(i);
      trace += static_cast<char>('A' + i);
    });
  }
  for (const int i : {0, 1, 1, 0}) fibers.resume(i);
  CHECK(trace == "abBA");
  CHECK(fibers.finished(0));
  CHECK(fibers.finished(1));
}

TEST_CASE("errno is a fiber's own") {
  Fibers fibers(2);
  bool kept[2] = {};
  for (int i = 0; i < 2; ++i) {
    fibers.body(i, [&, i] {
      kept[i] = errno == 0;
      errno = 10 + i;
      fibers.suspend(i);
      kept[i] = kept[i] && errno == 10 + i;
    });
  }
  errno = 77;
  for (const int i : {0, 1, 0, 1}) {
    fibers.resume(i);
    CHECK(errno == 77);
  }
  CHECK(kept[0]);
  CHECK(kept[1]);
  errno = 0;
}

TEST_CASE("two fibers blocked in catch blocks rethrow each its own exception") {
  Fibers fibers(2);
  std::string caught[2];
  for (int i = 0; i < 2; ++i) {
    fibers.body(i, [&, i] {
      try {
        try {
          throw std::runtime_error(std::string("of fiber ") + static_cast<char>('0' + i));
        } catch (...) {
          fibers.suspend(i);  // with a caught exception in flight
          throw;
        }
      } catch (const std::runtime_error& error) {
        fibers.suspend(i);
        caught[i] = error.what();
      }
    });
  }
  try {
    throw 5;
  } catch (int) {
    for (const int i : {0, 1, 0, 1, 0, 1}) fibers.resume(i);
    CHECK(std::current_exception() != nullptr);
  }
  CHECK(std::current_exception() == nullptr);
  CHECK(caught[0] == "of fiber 0");
  CHECK(caught[1] == "of fiber 1");
}

TEST_CASE("uncaught_exceptions counts a fiber's own") {
  Fibers fibers(1);
  int inside = -1;
  fibers.body(0, [&] {
    struct Guard {
      Fibers& fibers;
      int& inside;
      ~Guard() {
        fibers.suspend(0);  // during unwinding
        inside = std::uncaught_exceptions();
      }
    };
    try {
      Guard guard{fibers, inside};
      throw 1;
    } catch (int) {
    }
  });
  fibers.resume(0);
  CHECK(std::uncaught_exceptions() == 0);
  fibers.resume(0);
  CHECK(inside == 1);
  CHECK(fibers.finished(0));
}

TEST_CASE("floating-point rounding and flags belong to the fiber") {
  Fibers fibers(2);
  bool kept[2] = {};
  const int modes[2] = {FE_UPWARD, FE_DOWNWARD};
  for (int i = 0; i < 2; ++i) {
    fibers.body(i, [&, i] {
      std::fesetround(modes[i]);
      fibers.suspend(i);
      volatile double one = 1, three = 3;
      kept[i] = std::fegetround() == modes[i] && ((one / three) * 3 > 1) == (modes[i] == FE_UPWARD);
      fibers.suspend(i);
      kept[i] = kept[i] && std::fegetround() == modes[i];
    });
  }
  for (const int i : {0, 1, 0, 1, 1, 0}) {
    fibers.resume(i);
    CHECK(std::fegetround() == FE_TONEAREST);
  }
  CHECK(kept[0]);
  CHECK(kept[1]);
}

TEST_CASE("a fiber begins in the floating-point environment of a new process") {
  std::fesetround(FE_UPWARD);
  Fibers fibers(1);  // prepared in that
  std::feraiseexcept(FE_ALL_EXCEPT);
  fibers.body(0, [] {
    CHECK(std::fegetround() == FE_TONEAREST);
    CHECK(std::fetestexcept(FE_ALL_EXCEPT) == 0);
    CHECK(fegetexcept() == 0);
  });
  fibers.resume(0);
  CHECK(std::fegetround() == FE_UPWARD);
  std::fesetround(FE_TONEAREST);
  std::feclearexcept(FE_ALL_EXCEPT);
}

TEST_CASE("many fibers, each with its own locals") {
  Fibers fibers(kMany, 16 * 1024);
  long sum = 0;
  for (int i = 0; i < kMany; ++i) {
    fibers.body(i, [&, i] {
      volatile long mine = i;
      for (int round = 0; round < 3; ++round) {
        fibers.suspend(i);
        mine = mine + 1;
      }
      sum += mine;
    });
  }
  for (int round = 0; round < 4; ++round) {
    for (int i = 0; i < kMany; ++i) fibers.resume(i);
  }
  CHECK(sum == static_cast<long>(kMany) * (kMany - 1) / 2 + 3L * kMany);
#if !defined(TMPI_ASAN) && !defined(TMPI_TSAN)
  std::size_t touched = 0;
  for (int i = 0; i < kMany; ++i) touched += fibers.arena().high_water(i);
  CHECK(touched / kMany <= 8192);
#endif
}

TEST_CASE("a fiber may continue on another thread") {
  auto arena = StackArena::create({.count = 1, .size = 64 * 1024});
  REQUIRE(arena);
  struct Migrant : Fiber {
    Fiber* back = nullptr;
    Thread* first = nullptr;
    Thread* second = nullptr;
    int errno_kept = 0;
    bool exception_kept = false;
  } fiber;
  fiber.stack = (*arena)->stack(0);
  prepare(fiber, [](Fiber& self) noexcept {
    Migrant& me = static_cast<Migrant&>(self);
    try {
      throw 42;
    } catch (int) {
      errno = 12;
      me.second = &switch_to(*me.first, me, *me.back);
      me.exception_kept = std::current_exception() != nullptr;
    }
    abandon_to(*me.second, me, *me.back);
  });
  const auto visit = [&](Thread*& mine) {
    std::thread([&] {
      Thread thread;
      Fiber root;
      attach(thread, root);
      if (mine == nullptr) mine = &thread;
      fiber.back = &root;
      switch_to(thread, root, fiber);
      if (fiber.second != nullptr) CHECK(fiber.second == &thread);
      fiber.errno_kept = fiber.saved_errno;
      detach(root);
    }).join();
  };
  visit(fiber.first);
  CHECK(fiber.errno_kept == 12);
  Thread* unused = reinterpret_cast<Thread*>(1);
  visit(unused);
  CHECK(fiber.exception_kept);
  release(fiber);
}

}  // namespace
}  // namespace tmpi::ult
