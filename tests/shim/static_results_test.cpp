#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <math.h>
#include <netinet/ether.h>
#include <signal.h>
#include <stdlib.h>
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

TEST_CASE("addresses, numbers and names as text") {
  const GuestCopy first, second;
  const char* one = GUEST(first, inet_ntoa)(in_addr{htonl(0x0a000001)});
  CHECK(std::string(GUEST(second, inet_ntoa)(in_addr{htonl(0x0a000002)})) == "10.0.0.2");
  CHECK(std::string(one) == "10.0.0.1");
  int point = 0, sign = 0;
  const char* digits = GUEST(first, ecvt)(12.5, 5, &point, &sign);
  GUEST(second, fcvt)(-0.25, 3, &point, &sign);
  CHECK(std::string(digits) == "12500");
  for (const long number : {0L, 1L, 64L, 123456789L, -1L}) {
    CHECK(std::string(GUEST(first, l64a)(number)) == ::l64a(number));
  }
  const ether_addr* card = GUEST(first, ether_aton)("1:2:3:4:5:6");
  GUEST(second, ether_aton)("6:5:4:3:2:1");
  CHECK(std::string(GUEST(first, ether_ntoa)(card)) == "1:2:3:4:5:6");
}

TEST_CASE("the gamma function's sign") {
  const GuestCopy first, second;
  CHECK(first.get<double(double)>("lgamma")(-0.5) == doctest::Approx(1.2655121234846454));
  second.get<double(double)>("lgamma")(4.0);
  CHECK(*first.get<int>("signgam") == -1);
  CHECK(*second.get<int>("signgam") == 1);
}
