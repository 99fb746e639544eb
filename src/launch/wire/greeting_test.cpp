#include "launch/wire/greeting.hpp"

#include <doctest/doctest.h>

#include "launch/system/version.hpp"

namespace tmpi::launch {
namespace {

TEST_CASE("greetings") {
  const Greeting own = own_greeting();
  const Greeting got = unpack_greeting(pack(own));
  CHECK(got.wire_version == own.wire_version);
  CHECK(got.version == kVersion);
  CHECK(got.host == own.host);
  CHECK_FALSE(got.machine.empty());
  CHECK(got.network == own.network);
  CHECK(unpack_greeting("").wire_version == 0);
  CHECK(unpack_greeting("GET / HTTP/1.1").wire_version == 0);
}

}  // namespace
}  // namespace tmpi::launch
