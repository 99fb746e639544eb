#include "net/secret.hpp"

#include <sodium.h>

namespace tmpi::net {

static_assert(crypto_auth_KEYBYTES == 32 && crypto_auth_BYTES == 32);

bool prepare_secrets() noexcept {
  return sodium_init() >= 0;
}

Secret draw_secret() {
  Secret secret;
  randombytes_buf(secret.bytes.data(), secret.bytes.size());
  return secret;
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

std::string to_text(const Secret& secret) {
  std::string text(2 * secret.bytes.size() + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), secret.bytes.data(), secret.bytes.size());
  text.pop_back();
  return text;
}

Result<Secret> secret_from_text(std::string_view text) {
  Secret secret;
  std::size_t length = 0;
  if (sodium_hex2bin(secret.bytes.data(), secret.bytes.size(), text.data(), text.size(), nullptr, &length,
                     nullptr) != 0 ||
      length != secret.bytes.size() || text.size() != 2 * length)
    return Failure{"the job's secret must be 64 hexadecimal digits"};
  return secret;
}

}  // namespace tmpi::net
