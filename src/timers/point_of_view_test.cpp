#include "timers/point_of_view.hpp"

#include <doctest/doctest.h>

#include "timers/meter.hpp"

namespace tmpi::timers {
namespace {

TEST_CASE("process-POV: the clock stands still while the process is suspended") {
  ProcessClock clock;
  clock.start(100);
  CHECK(clock.running());
  CHECK(clock.read(110) == 10);
  clock.suspend(120);
  CHECK_FALSE(clock.running());
  CHECK(clock.elapsed() == 20);
  clock.resume(1000);
  CHECK(clock.read(1005) == 25);
  clock.suspend(1010);
  CHECK(clock.elapsed() == 30);
}

TEST_CASE("process-POV: time stamps of two cores are never subtracted") {
  ProcessClock clock;
  clock.start(1'000'000);
  clock.suspend(1'000'050);
  clock.resume(7);  // a core whose counter shows another time
  CHECK(clock.read(17) == 60);
  clock.suspend(27);
  clock.resume(2'000'000);
  CHECK(clock.read(2'000'001) == 71);
}

TEST_CASE("process-POV: a clock that was never started begins with the next resume or read") {
  ProcessClock clock;
  clock.suspend(50);  // metering was switched on in the middle of this stretch
  CHECK(clock.elapsed() == 0);
  clock.resume(60);
  CHECK(clock.read(70) == 10);
  ProcessClock other;
  CHECK(other.read(500) == 0);
  CHECK(other.read(510) == 10);
}

TEST_CASE("process-POV: starting sets back to zero") {
  ProcessClock clock;
  clock.resume(10);  // before MPI_Init
  clock.start(30);
  CHECK(clock.read(35) == 5);
}

TEST_CASE("core-POV: the sum over the processes of a core, of their time in the section only") {
  CoreMeter core;
  ProcessMeter a, b;
  resume(a, core, 0x100);
  core.clock.start(a.section, 0x110);
  suspend(a, core, 0x120);  // 0x10 in the section
  resume(b, core, 0x120);
  suspend(b, core, 0x200);  // b is in no section
  resume(a, core, 0x200);
  core.clock.stop(a.section, 0x208);  // 0x8 more
  suspend(a, core, 0x300);
  resume(b, core, 0x300);
  core.clock.start(b.section, 0x310);
  CHECK(core.clock.read(b.section, 0x311) == 0x19);  // with b's present stretch
  CHECK(core.clock.read(b.section, 0x312) == 0x1a);
  core.clock.stop(b.section, 0x314);
  CHECK(core.clock.read(b.section, 0x400) == 0x1c);
  CHECK(a.clock.elapsed() == 0x20 + 0x100);
}

TEST_CASE("core-POV: what is started on one core and stopped on another counts on each for its part") {
  CoreMeter first, second;
  ProcessMeter process;
  resume(process, first, 1000);
  first.clock.start(process.section, 1010);
  suspend(process, first, 1030);
  resume(process, second, 5);
  second.clock.stop(process.section, 12);
  SectionMark nobody;
  CHECK(first.clock.read(nobody, 9999) == 20);
  CHECK(second.clock.read(nobody, 9999) == 7);
  CHECK(process.clock.elapsed() == 30);
}

TEST_CASE("core-POV: misuse has an outcome") {
  CoreMeter core;
  ProcessMeter process;
  SectionMark nobody;
  resume(process, core, 100);
  core.clock.stop(process.section, 150);  // stop without start: nothing
  CHECK(core.clock.read(nobody, 150) == 0);
  core.clock.start(process.section, 200);
  core.clock.start(process.section, 210);  // start twice: the section goes on
  core.clock.stop(process.section, 230);
  CHECK(core.clock.read(nobody, 230) == 30);
  core.clock.stop(process.section, 240);  // and one stop has ended it
  CHECK(core.clock.read(nobody, 240) == 30);
  core.clock.start(process.section, 300);
  suspend(process, core, 350);  // the process ends within the section: it counts up to there
  CHECK(core.clock.read(nobody, 999) == 80);
}

}  // namespace
}  // namespace tmpi::timers
