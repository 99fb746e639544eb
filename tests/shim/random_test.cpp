#include <doctest/doctest.h>
#include <stdlib.h>
#include <string.h>

#include <random>

#include "guest_copy.hpp"

namespace {

/// One step of one of the generators on both sides; the results must agree.
void step(const GuestCopy& guest, std::mt19937& choice, char (&tables)[2][4][256]) {
  static const size_t kSizes[] = {8, 32, 64, 128, 256};
  const auto number = static_cast<unsigned>(choice());
  unsigned short ours[7], theirs[7];
  for (int i = 0; i < 7; ++i) ours[i] = theirs[i] = static_cast<unsigned short>(choice());
  switch (choice() % 14) {
    case 0:
      srand(number), GUEST(guest, srand)(number);
      break;
    case 1:
      srandom(number), GUEST(guest, srandom)(number);
      break;
    case 2: {
      const unsigned which = number % 4;
      const size_t size = kSizes[choice() % 5];
      const bool theirs_ok = initstate(number, tables[0][which], size) != nullptr;
      CHECK((GUEST(guest, initstate)(number, tables[1][which], size) != nullptr) == theirs_ok);
      break;
    }
    case 3:
      srand48(number), GUEST(guest, srand48)(number);
      break;
    case 4: {
      unsigned short* theirs_before = seed48(theirs);
      unsigned short* ours_before = GUEST(guest, seed48)(ours);
      CHECK(memcmp(theirs_before, ours_before, 6) == 0);
      break;
    }
    case 5:
      lcong48(theirs), GUEST(guest, lcong48)(ours);
      break;
    case 6:
      CHECK(GUEST(guest, drand48)() == drand48());
      break;
    case 7:
      CHECK(GUEST(guest, lrand48)() == lrand48());
      break;
    case 8:
      CHECK(GUEST(guest, mrand48)() == mrand48());
      break;
    case 9:
      CHECK(GUEST(guest, erand48)(ours) == erand48(theirs));
      break;
    case 10:
      CHECK(GUEST(guest, nrand48)(ours) == nrand48(theirs));
      break;
    case 11:
      CHECK(GUEST(guest, jrand48)(ours) == jrand48(theirs));
      break;
    case 12:
      CHECK(GUEST(guest, rand)() == rand());
      break;
    default:
      CHECK(GUEST(guest, random)() == random());
      break;
  }
}

}  // namespace

TEST_CASE("the generators give the numbers that libc's give") {
  static char tables[2][4][256];
  std::mt19937 choice(99);
  const GuestCopy guest;
  // From the very start: libc's default state, seed 1. Nothing else in the test program draws numbers.
  for (int i = 0; i < 200; ++i) REQUIRE(GUEST(guest, rand)() == rand());
  for (int i = 0; i < 20; ++i) REQUIRE(GUEST(guest, drand48)() == drand48());
  for (int i = 0; i < 20000; ++i) step(guest, choice, tables);
  // Back to a state left half-way, and on from there.
  char* theirs = setstate(tables[0][0]);
  char* ours = GUEST(guest, setstate)(tables[1][0]);
  CHECK((theirs != nullptr) == (ours != nullptr));
  for (int i = 0; i < 100; ++i) REQUIRE(GUEST(guest, random)() == random());
}

TEST_CASE("each rank draws its own sequence") {
  const GuestCopy first, second;
  GUEST(first, srand)(5);
  GUEST(second, srand)(5);
  for (int i = 0; i < 50; ++i) {
    const int number = GUEST(first, rand)();
    GUEST(first, drand48)();
    CHECK(GUEST(second, rand)() == number);
  }
}
