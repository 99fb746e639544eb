#include "net/key_agreement.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace tmpi::net {
namespace {

TEST_CASE("both ends have the same secrets, and nobody else has") {
  const auto launcher = KeyPair::draw();
  const auto node = KeyPair::draw();
  const auto stranger = KeyPair::draw();
  REQUIRE((launcher && node && stranger));
  const auto here = launcher->share_with_node(node->public_key());
  const auto there = node->share_with_launcher(launcher->public_key());
  const auto elsewhere = stranger->share_with_launcher(launcher->public_key());
  REQUIRE((here && there && elsewhere));
  CHECK(here->handshake.bytes == there->handshake.bytes);
  CHECK(here->delivery.bytes == there->delivery.bytes);
  CHECK(here->handshake.bytes != here->delivery.bytes);
  CHECK(elsewhere->handshake.bytes != here->handshake.bytes);
  CHECK_FALSE(launcher->share_with_node(PublicKey{}));  // a point of small order
}

TEST_CASE("a public key comes back from its text, and only from a whole one") {
  const auto pair = KeyPair::draw();
  REQUIRE(pair);
  const std::string text = to_text(pair->public_key());
  CHECK(text.size() == 64);
  const auto copy = public_key_from_text(text);
  REQUIRE(copy);
  CHECK(*copy == pair->public_key());
  for (std::string_view bad : {"", "00", "zz"}) CHECK_FALSE(public_key_from_text(bad));
  CHECK_FALSE(public_key_from_text(text + "00"));
  CHECK_FALSE(public_key_from_text(text + " "));
  CHECK_FALSE(public_key_from_text(text.substr(1)));
  CHECK_FALSE(public_key_from_text(std::string(64, 'g')));
}

TEST_CASE("a sealed key opens with its secret only, unchanged, and does not show the key") {
  const auto key = JobKey::draw();
  const auto secret = Secret::draw();
  const auto other = Secret::draw();
  REQUIRE((key && secret && other));
  const auto sealed = seal(*key, *secret);
  REQUIRE(sealed);
  const auto& bytes = key->secret.bytes;
  CHECK(std::search(sealed->begin(), sealed->end(), bytes.begin(), bytes.end()) == sealed->end());
  const auto opened = unseal(*sealed, *secret);
  REQUIRE(opened);
  CHECK(opened->job == key->job);
  CHECK(opened->secret.bytes == key->secret.bytes);
  CHECK_FALSE(unseal(*sealed, *other));
  for (const std::size_t at : {std::size_t{0}, std::size_t{30}, sealed->size() - 1}) {
    SealedKey bent = *sealed;
    bent[at] ^= 1;
    CHECK_FALSE(unseal(bent, *secret));
  }
  CHECK(*seal(*key, *secret) != *sealed);  // another nonce each time
}

}  // namespace
}  // namespace tmpi::net
