#include "net/proof.hpp"

#include <sodium.h>

namespace tmpi::net {

static_assert(crypto_auth_KEYBYTES == 32 && crypto_auth_BYTES == 32);

bool prepare_proofs() noexcept {
  return sodium_init() >= 0;
}

Challenge draw_challenge() {
  Challenge challenge;
  randombytes_buf(challenge.data(), challenge.size());
  return challenge;
}

Proof prove(const Secret& secret, std::span<const std::byte> statement) noexcept {
  Proof proof;
  crypto_auth(proof.data(), reinterpret_cast<const unsigned char*>(statement.data()), statement.size(),
              secret.bytes.data());
  return proof;
}

bool proves(const Proof& proof, const Secret& secret, std::span<const std::byte> statement) noexcept {
  return crypto_auth_verify(proof.data(), reinterpret_cast<const unsigned char*>(statement.data()),
                            statement.size(), secret.bytes.data()) == 0;
}

}  // namespace tmpi::net
