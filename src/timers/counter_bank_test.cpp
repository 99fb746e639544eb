#include "timers/counter_bank.hpp"

#include <doctest/doctest.h>

#include <set>

#include "timers/meter.hpp"

namespace tmpi::timers {
namespace {

/// Values set by the test.
struct Fake final : CounterSource {
  std::uint64_t values[kMaxEvents] = {};
  std::set<int> opened, refused, starved;
  Result<void> open(int event) override {
    if (refused.contains(event)) return Failure{"refused"};
    opened.insert(event);
    return {};
  }
  void close(int event) noexcept override { opened.erase(event); }
  bool read(int event, std::uint64_t& value) noexcept override {
    value = values[event];
    return opened.contains(event) && !starved.contains(event);
  }
};

struct Core {
  Fake* fake;
  CounterBank bank;
  Core() : Core(std::make_unique<Fake>()) {}

 private:
  explicit Core(std::unique_ptr<Fake> source) : fake(source.get()), bank(std::move(source)) {}
};

std::uint64_t of_process(CounterBank& bank, CounterTotals& process, int event = 0) {
  std::uint64_t value = 0;
  CHECK(bank.read_process(event, process, value));
  return value;
}

std::uint64_t of_core(CounterBank& bank, bool in_section, int event = 0) {
  std::uint64_t value = 0;
  CHECK(bank.read_core(event, in_section, value));
  return value;
}

TEST_CASE("process-POV: counts while the process runs") {
  Core core;
  CounterTotals process;
  core.fake->values[0] = 1000;
  REQUIRE(core.bank.acquire(0, process, false));
  core.fake->values[0] = 1010;
  CHECK(of_process(core.bank, process) == 10);
  core.bank.suspend(&process, false, 1);
  core.fake->values[0] = 5000;
  core.bank.resume(&process, false, 2);
  core.fake->values[0] = 5005;
  CHECK(of_process(core.bank, process) == 15);
}

TEST_CASE("process-POV: survives migration between cores whose counters differ") {
  Core first, second;
  CounterTotals process;
  first.fake->values[0] = 100;
  second.fake->values[0] = 7;
  REQUIRE(first.bank.acquire(0, process, false));
  first.fake->values[0] = 130;
  first.bank.suspend(&process, false, 3);
  second.bank.resume(&process, false, 4);  // opens the counter there
  CHECK(second.fake->opened.contains(0));
  second.fake->values[0] = 9;
  CHECK(of_process(second.bank, process) == 32);
}

TEST_CASE("core-POV: what processes of the core counted in sections, also those that opened nothing") {
  Core core;
  CounterTotals a;
  REQUIRE(core.bank.acquire(0, a, false));
  core.fake->values[0] = 10;
  core.bank.enter_section();  // a
  core.fake->values[0] = 14;
  CHECK(of_core(core.bank, true) == 4);
  core.bank.suspend(&a, true, 5);
  core.bank.resume(nullptr, false, 6);  // b, not in a section
  core.fake->values[0] = 100;
  core.bank.enter_section();  // b
  core.fake->values[0] = 103;
  core.bank.suspend(nullptr, true, 7);
  core.bank.resume(&a, true, 8);
  core.fake->values[0] = 110;
  core.bank.leave_section();
  core.fake->values[0] = 200;
  CHECK(of_core(core.bank, false) == 4 + 3 + 7);
  CHECK(of_process(core.bank, a) == 14 + (200 - 103));
}

TEST_CASE("a switch reads an event once for both sides") {
  Core core;
  CounterTotals a, b;
  REQUIRE(core.bank.acquire(0, a, false));
  core.fake->values[0] = 10;
  core.bank.suspend(&a, false, 1000);
  core.fake->values[0] = 11;  // not read: it is the same switch
  b.counting = 1;
  core.bank.resume(&b, false, 1000);
  core.fake->values[0] = 15;
  CHECK(of_process(core.bank, b) == 5);
  CHECK(a.total[0] == 10);
}

TEST_CASE("a counter opened within a section counts from there") {
  Core core;
  CounterTotals process;
  core.fake->values[2] = 50;
  core.bank.enter_section();
  REQUIRE(core.bank.acquire(2, process, true));
  core.fake->values[2] = 53;
  core.bank.leave_section();
  CHECK(of_core(core.bank, false, 2) == 3);
}

TEST_CASE("two processes share an event of their core; the last one closes it") {
  Core core;
  CounterTotals a, b;
  REQUIRE(core.bank.acquire(1, a, false));
  core.bank.suspend(&a, false, 9);
  core.bank.resume(nullptr, false, 10);
  REQUIRE(core.bank.acquire(1, b, false));
  core.bank.release(1, b, false);
  CHECK(core.fake->opened.contains(1));
  core.bank.suspend(nullptr, false, 11);
  core.bank.resume(&a, false, 12);
  core.bank.release(1, a, false);
  CHECK(core.fake->opened.empty());
  CHECK_FALSE(core.bank.any_open());
}

TEST_CASE("what cannot be counted is never a number") {
  Core core;
  CounterTotals process;
  core.fake->refused = {3};
  CHECK_FALSE(core.bank.acquire(3, process, false));
  core.fake->starved = {4};  // the kernel accepts it, and no counter is free
  const Result<void> starved = core.bank.acquire(4, process, false);
  REQUIRE_FALSE(starved);
  CHECK(starved.message().find("no free counter") != std::string::npos);
  CHECK(core.fake->opened.empty());
  CHECK(process.counting == 0);
}

TEST_CASE("a gap makes the value an error, not smaller") {
  Core first, second;
  CounterTotals process;
  std::uint64_t value = 0;
  REQUIRE(first.bank.acquire(0, process, false));
  first.bank.suspend(&process, false, 13);
  second.fake->refused = {0};
  second.bank.resume(&process, false, 14);  // not to be had on the second core
  second.bank.suspend(&process, false, 15);
  first.bank.resume(&process, false, 16);
  CHECK_FALSE(first.bank.read_process(0, process, value));

  first.bank.enter_section();
  first.fake->starved = {0};
  first.bank.leave_section();
  first.fake->starved = {};
  CHECK_FALSE(first.bank.read_core(0, false, value));
}

}  // namespace
}  // namespace tmpi::timers
