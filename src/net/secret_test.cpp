#include "net/secret.hpp"

#include <doctest/doctest.h>
#include <errno.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace tmpi::net {
namespace {

TEST_CASE("draws differ") {
  CHECK(Secret::draw()->bytes != Secret::draw()->bytes);
  CHECK(JobKey::draw()->job != JobKey::draw()->job);
  CHECK_FALSE(Secret::draw()->empty());
  CHECK(Secret().empty());
}

TEST_CASE("without random numbers there is no secret, but a sentence") {
  const auto refused = Secret::draw([](void*, std::size_t, unsigned) -> ssize_t {
    errno = ENOSYS;
    return -1;
  });
  REQUIRE_FALSE(refused);
  CHECK(refused.message().find("getrandom: Function not implemented") != std::string::npos);
  CHECK_FALSE(JobKey::draw([](void*, std::size_t, unsigned) -> ssize_t { return 0; }));
  const auto zeros = Secret::draw([](void* buffer, std::size_t bytes, unsigned) {
    std::memset(buffer, 0, bytes);
    return static_cast<ssize_t>(bytes);
  });
  REQUIRE_FALSE(zeros);
  CHECK(zeros.message().find("all zero") != std::string::npos);
}

TEST_CASE("a draw that is interrupted or comes in pieces is completed") {
  static int calls = 0;
  const auto drawn = Secret::draw([](void* buffer, std::size_t bytes, unsigned) -> ssize_t {
    if (++calls % 2 == 1) {
      errno = EINTR;
      return -1;
    }
    std::memset(buffer, calls, std::min<std::size_t>(bytes, 10));
    return static_cast<ssize_t>(std::min<std::size_t>(bytes, 10));
  });
  REQUIRE(drawn);
  CHECK(calls == 8);
  CHECK(std::ranges::count(drawn->bytes, 0) == 0);
}

TEST_CASE("a secret is overwritten when it is destroyed") {
  alignas(Secret) unsigned char place[sizeof(Secret)];
  auto* secret = new (place) Secret(*Secret::draw());
  CHECK(std::ranges::any_of(place, [](unsigned char byte) { return byte != 0; }));
  secret->~Secret();
  CHECK(std::ranges::all_of(place, [](unsigned char byte) { return byte == 0; }));
}

}  // namespace
}  // namespace tmpi::net
