#include "launch/wire/hello.hpp"

#include <doctest/doctest.h>

#include "launch/system/version.hpp"

namespace tmpi::launch {
namespace {

TEST_CASE("hellos") {
  Hello own = own_hello();
  own.no_verbs = "there is none";
  const Hello got = unpack_hello(pack(own));
  CHECK(got.wire_version == own.wire_version);
  CHECK(got.version == kVersion);
  CHECK(got.host == own.host);
  CHECK_FALSE(got.machine.empty());
  CHECK(got.network == own.network);
  CHECK(got.no_verbs == own.no_verbs);
  CHECK(unpack_hello("").wire_version == 0);
  CHECK(unpack_hello("GET / HTTP/1.1").wire_version == 0);
}

}  // namespace
}  // namespace tmpi::launch
