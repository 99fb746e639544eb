#include <doctest/doctest.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include <string>

#include "guest_copy.hpp"

TEST_CASE("strtok walks through one text per rank") {
  const GuestCopy first, second;
  char a[] = "a b c", b[] = "x,y";
  CHECK(std::string(GUEST(first, strtok)(a, " ")) == "a");
  CHECK(std::string(GUEST(second, strtok)(b, ",")) == "x");
  CHECK(std::string(GUEST(first, strtok)(nullptr, " ")) == "b");
  CHECK(std::string(GUEST(second, strtok)(nullptr, ",")) == "y");
  CHECK(std::string(GUEST(first, strtok)(nullptr, " ")) == "c");
  CHECK(GUEST(second, strtok)(nullptr, ",") == nullptr);
}

TEST_CASE("broken-down times and their texts are the rank's") {
  const GuestCopy first, second;
  const time_t early = 86400, late = 1700000000;
  const struct tm* one = GUEST(first, gmtime)(&early);
  const struct tm* two = GUEST(second, gmtime)(&late);
  CHECK(one->tm_year == 70);
  CHECK(two->tm_year == 123);
  CHECK(GUEST(first, localtime)(&late) == one);  // one object for both functions, as programs assume of libc
  const char* text = GUEST(first, ctime)(&late);
  GUEST(second, ctime)(&early);
  CHECK(std::string(text) == ::ctime(&late));
  CHECK(std::string(GUEST(second, asctime)(two)) == ::asctime(::localtime(&early)));
}

TEST_CASE("texts of errors and signals") {
  const GuestCopy first, second;
  CHECK(std::string(GUEST(first, strerror)(2)) == "No such file or directory");
  const char* one = GUEST(first, strerror)(12345);
  const char* two = GUEST(second, strerror)(54321);
  CHECK(std::string(one) == "Unknown error 12345");
  CHECK(std::string(two) == "Unknown error 54321");
  CHECK(std::string(GUEST(first, strsignal)(SIGSEGV)) == "Segmentation fault");
  const char* real_time = GUEST(first, strsignal)(SIGRTMIN + 3);
  GUEST(second, strsignal)(SIGRTMIN + 4);
  CHECK(std::string(real_time) == "Real-time signal 3");
}

TEST_CASE("the gamma function's sign") {
  const GuestCopy first, second;
  CHECK(first.get<double(double)>("lgamma")(-0.5) == doctest::Approx(1.2655121234846454));
  second.get<double(double)>("lgamma")(4.0);
  CHECK(*first.get<int>("signgam") == -1);
  CHECK(*second.get<int>("signgam") == 1);
}
