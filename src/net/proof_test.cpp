#include "net/proof.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

namespace tmpi::net {
namespace {

std::vector<std::byte> bytes(std::string_view text) {
  const auto all = std::as_bytes(std::span(text));
  return {all.begin(), all.end()};
}

TEST_CASE("challenges differ") {
  REQUIRE(prepare_proofs());
  CHECK(draw_challenge() != draw_challenge());
}

TEST_CASE("a proof holds for its secret and its statement only") {
  REQUIRE(prepare_proofs());
  const Secret secret = *Secret::draw();
  const Proof proof = prove(secret, bytes("node 3 to node 5"));
  CHECK(proves(proof, secret, bytes("node 3 to node 5")));
  CHECK_FALSE(proves(proof, secret, bytes("node 3 to node 6")));
  CHECK_FALSE(proves(proof, *Secret::draw(), bytes("node 3 to node 5")));
  Proof bent = proof;
  bent[31] ^= 1;
  CHECK_FALSE(proves(bent, secret, bytes("node 3 to node 5")));
}

}  // namespace
}  // namespace tmpi::net
