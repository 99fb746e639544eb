// The conformance suite on ofi, over the providers of libfabric that need no hardware; what is refused.
#include <doctest/doctest.h>

#include <string>

#include "net/conformance.hpp"
#include "net/ofi/api.hpp"
#include "net/ofi/providers.hpp"
#include "net/ofi/settings.hpp"

#ifdef __SANITIZE_ADDRESS__
// libfabric 1.17 (rxm) does not free all that an endpoint had when that is closed.
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libfabric.so";
}
#endif

namespace tmpi::net::ofi {
namespace {

// Where libfabric itself is missing there is nothing to be tested.
const Api* api_here() {
  const auto api = system_api();
  if (api) return *api;
  MESSAGE("skipped: " << api.message());
  return nullptr;
}

bool is_here(const Api& api, const std::string& provider) {
  const auto info = choose_info(api, {provider, ""}, true);
  if (!info) MESSAGE("skipped: " << info.message());
  return static_cast<bool>(info);
}

void check(const std::string& provider, double wake_ups) {
  const Api* const api = api_here();
  if (api != nullptr && is_here(*api, provider))
    conformance::check_conformance(
        {.spec = "ofi:" + provider, .largest = conformance::kLargest / 8, .wake_ups = wake_ups});
}

TEST_CASE("ofi over tcp and rxm") {
  if (const Api* const api = api_here(); api != nullptr && is_here(*api, "tcp"))
    conformance::check_conformance({.spec = "ofi:tcp"});
}

// It sends now and then by itself.
// By itself: on a loaded machine rxd of libfabric 2.1 has stood still.
TEST_CASE("ofi over udp and rxd" * doctest::test_suite("timing")) {
  check("udp", 2000);
}

// Their sleepers look each millisecond.
TEST_CASE("ofi over shared memory") {
  check("shm", 2000);
}
TEST_CASE("ofi over net") {
  check("net", 2000);
}

TEST_CASE("ofi notices a death within a second" * doctest::test_suite("timing")) {
  if (api_here() != nullptr) conformance::check_death_is_noticed_soon({"ofi:tcp"});
}

TEST_CASE("what libfabric does not know, or finds no hardware for, is refused with a sentence") {
  const Api* const api = api_here();
  if (api == nullptr) return;
  const auto unknown = choose_info(*api, {"nonsense", ""}, true);
  REQUIRE_FALSE(unknown);
  CHECK(unknown.message().find("has no provider \"nonsense\"; it has: ") != std::string::npos);
  CHECK(unknown.message().find("tcp") != std::string::npos);
  for (const char* provider : {"psm2", "psm3", "efa", "cxi", "opx"}) {
    const auto info = choose_info(*api, {provider, ""}, true);
    if (info) continue;  // a machine that has it
    CAPTURE(info.message());
    CHECK((info.message().find("finds nothing on this machine") != std::string::npos ||
           info.message().find("has no provider") != std::string::npos));
  }
  CHECK_FALSE(choose_info(*api, {"sockets", ""}, true));
  CHECK_FALSE(choose_info(*api, {"tcp", "no such interface"}, true));
}

TEST_CASE("settings of ofi") {
  CHECK(parse_settings("").operator bool());
  CHECK(parse_settings("tcp")->provider == "tcp");
  CHECK(parse_settings("tcp;ofi_rxm,interface=lo")->provider == "tcp;ofi_rxm");
  CHECK(parse_settings("provider=efa,interface=10.0.0.0/8")->interface == "10.0.0.0/8");
  for (const char* wrong :
       {"t c p", "provider=", "tcp,udp", "speed=3", "interface=", "interface=10.0.0.0/77"})
    CHECK_FALSE(parse_settings(wrong));
}

}  // namespace
}  // namespace tmpi::net::ofi
