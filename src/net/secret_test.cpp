#include "net/secret.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace tmpi::net {
namespace {

std::vector<std::byte> bytes(std::string_view text) {
  const auto all = std::as_bytes(std::span(text));
  return {all.begin(), all.end()};
}

TEST_CASE("a secret comes back from its text, and only from a whole one") {
  REQUIRE(prepare_secrets());
  const Secret secret = draw_secret();
  const std::string text = to_text(secret);
  CHECK(text.size() == 64);
  const Result<Secret> copy = secret_from_text(text);
  REQUIRE(copy);
  CHECK(copy->bytes == secret.bytes);
  for (std::string_view bad : {"", "00", "zz"}) CHECK_FALSE(secret_from_text(bad));
  CHECK_FALSE(secret_from_text(text + "00"));
  CHECK_FALSE(secret_from_text(text + " "));
  CHECK_FALSE(secret_from_text(text.substr(1)));
  CHECK_FALSE(secret_from_text(std::string(64, 'g')));
}

TEST_CASE("draws differ") {
  REQUIRE(prepare_secrets());
  CHECK(draw_secret().bytes != draw_secret().bytes);
  CHECK(draw_challenge() != draw_challenge());
}

TEST_CASE("a proof holds for its secret and its statement only") {
  REQUIRE(prepare_secrets());
  const Secret secret = draw_secret();
  const Proof proof = prove(secret, bytes("node 3 to node 5"));
  CHECK(proves(proof, secret, bytes("node 3 to node 5")));
  CHECK_FALSE(proves(proof, secret, bytes("node 3 to node 6")));
  CHECK_FALSE(proves(proof, draw_secret(), bytes("node 3 to node 5")));
  Proof bent = proof;
  bent[31] ^= 1;
  CHECK_FALSE(proves(bent, secret, bytes("node 3 to node 5")));
}

}  // namespace
}  // namespace tmpi::net
