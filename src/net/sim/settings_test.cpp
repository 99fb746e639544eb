#include "net/sim/settings.hpp"

#include <doctest/doctest.h>

#include <string>

namespace tmpi::net::sim {
namespace {

Model parsed(std::string_view text) {
  const Result<Model> model = parse_settings(text);
  REQUIRE_MESSAGE(static_cast<bool>(model), std::string(text));
  return *model;
}

// The failure's sentence.
std::string refused(std::string_view text) {
  const Result<Model> model = parse_settings(text);
  REQUIRE_FALSE(static_cast<bool>(model));
  return model.message();
}

TEST_CASE("settings with their units") {
  const Model model = parsed("latency=5us,bandwidth=7GB/s,overhead=200ns,gap=0.1us,jitter=1ms,seed=42");
  CHECK(model.latency == 5000);
  CHECK(model.per_byte == doctest::Approx(1 / 7.0));
  CHECK(model.overhead == 200);
  CHECK(model.gap == 100);
  CHECK(model.jitter == 1'000'000);
  CHECK(model.seed == 42);
  CHECK(parsed("bandwidth=56Gbit/s,latency=0s").per_byte == doctest::Approx(1 / 7.0));
  CHECK(parsed("bandwidth=1MiB/s,latency=2s").per_byte == doctest::Approx(1e9 / 1048576));
}

TEST_CASE("presets, settings that override them, dilation of all times") {
  const Model fdr = parsed("");
  CHECK(fdr.wire_time(6'200'000) == 1'000'000);
  CHECK(2 * fdr.overhead + fdr.latency == 1100);
  const Model slow = parsed("fdr-ib,latency=3us,dilation=10");
  CHECK(slow.latency == 30'000);
  CHECK(slow.overhead == 10 * fdr.overhead);
  CHECK(slow.gap == 10 * fdr.gap);
  CHECK(slow.per_byte == doctest::Approx(10 * fdr.per_byte));
  for (const char* preset : {"hdr-ib", "slingshot", "10gbe"}) CHECK(parsed(preset).per_byte > 0);
  CHECK(parsed("10gbe").per_byte > parsed("fdr-ib").per_byte);
}

TEST_CASE("what is wrong is said together with what is accepted") {
  CHECK(refused("latency=5,bandwidth=1GB/s").find("a time of 0 to 1000 s with its unit") !=
        std::string::npos);
  CHECK(refused("latency=-5us,bandwidth=1GB/s").find("\"-5us\"") != std::string::npos);
  CHECK(refused("latency=nanus,bandwidth=1GB/s").find("a time of") != std::string::npos);
  CHECK(refused("latency=5us,bandwidth=0GB/s").find("7GB/s") != std::string::npos);
  CHECK(refused("latency=5us,bandwidth=7us").find("bytes or bits per second") != std::string::npos);
  CHECK(refused("latency=5us").find("both latency and bandwidth") != std::string::npos);
  CHECK(refused("fdr-ib,dilation=0").find("a factor of") != std::string::npos);
  CHECK(refused("fdr-ib,seed=1.5").find("a whole number") != std::string::npos);
  CHECK(refused("fdr-ib,lateny=5us").find("there are: latency, bandwidth, overhead") != std::string::npos);
  CHECK(refused("fdr").find("fdr-ib, hdr-ib, slingshot, 10gbe") != std::string::npos);
  CHECK(refused("latency=5us,fdr-ib").find("as the first word") != std::string::npos);
}

}  // namespace
}  // namespace tmpi::net::sim
