#include "net/key_agreement.hpp"

#include <sodium.h>

#include <algorithm>
#include <cstring>

#include "net/proof.hpp"

namespace tmpi::net {
namespace {

static_assert(crypto_kx_PUBLICKEYBYTES == 32 && crypto_kx_SECRETKEYBYTES == 32 && crypto_kx_SEEDBYTES == 32 &&
              crypto_kx_SESSIONKEYBYTES == 32 && crypto_secretbox_KEYBYTES == 32);

constexpr std::size_t kNonce = crypto_secretbox_NONCEBYTES;
constexpr std::size_t kPlain = sizeof(JobKey::job) + 32;
static_assert(kNonce + crypto_secretbox_MACBYTES + kPlain == std::tuple_size_v<SealedKey>);

}  // namespace

std::string to_text(const PublicKey& key) {
  std::string text(2 * key.size() + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), key.data(), key.size());
  text.pop_back();
  return text;
}

Result<PublicKey> public_key_from_text(std::string_view text) {
  PublicKey key;
  std::size_t length = 0;
  if (sodium_hex2bin(key.data(), key.size(), text.data(), text.size(), nullptr, &length, nullptr) != 0 ||
      length != key.size() || text.size() != 2 * length)
    return Failure{"a public key must be 64 hexadecimal digits"};
  return key;
}

Result<KeyPair> KeyPair::draw() {
  if (!prepare_proofs()) return Failure{"libsodium does not start: the system gives no random numbers"};
  const Result<Secret> seed = Secret::draw();
  if (!seed) return seed.failure();
  KeyPair pair;
  crypto_kx_seed_keypair(pair.public_.data(), pair.private_.bytes.data(), seed->bytes.data());
  return pair;
}

// In crypto_kx's words the launcher is the server. What the node sends with is for the handshake, what the launcher
// sends with for the delivery.
Result<SharedSecrets> KeyPair::share_with_node(const PublicKey& node) const {
  SharedSecrets shared;
  if (crypto_kx_server_session_keys(shared.handshake.bytes.data(), shared.delivery.bytes.data(),
                                    public_.data(), private_.bytes.data(), node.data()) != 0)
    return Failure{"the node process's public key is none"};
  return shared;
}

Result<SharedSecrets> KeyPair::share_with_launcher(const PublicKey& launcher) const {
  SharedSecrets shared;
  if (crypto_kx_client_session_keys(shared.delivery.bytes.data(), shared.handshake.bytes.data(),
                                    public_.data(), private_.bytes.data(), launcher.data()) != 0)
    return Failure{"the launcher's public key is none"};
  return shared;
}

Result<SealedKey> seal(const JobKey& key, const Secret& delivery) {
  SealedKey sealed;
  const Result<void> drawn = draw_random(std::as_writable_bytes(std::span(sealed)).first(kNonce));
  if (!drawn) return drawn.failure();
  std::array<unsigned char, kPlain> plain;
  std::memcpy(plain.data(), &key.job, sizeof key.job);
  std::copy(key.secret.bytes.begin(), key.secret.bytes.end(), plain.begin() + sizeof key.job);
  crypto_secretbox_easy(sealed.data() + kNonce, plain.data(), plain.size(), sealed.data(),
                        delivery.bytes.data());
  wipe(std::as_writable_bytes(std::span(plain)));
  return sealed;
}

Result<JobKey> unseal(const SealedKey& sealed, const Secret& delivery) {
  std::array<unsigned char, kPlain> plain{};
  if (crypto_secretbox_open_easy(plain.data(), sealed.data() + kNonce, sealed.size() - kNonce, sealed.data(),
                                 delivery.bytes.data()) != 0)
    return Failure{"the job's key did not come over as it was sent"};
  JobKey key;
  std::memcpy(&key.job, plain.data(), sizeof key.job);
  std::copy(plain.begin() + sizeof key.job, plain.end(), key.secret.bytes.begin());
  wipe(std::as_writable_bytes(std::span(plain)));
  if (key.secret.empty()) return Failure{"the job's key came over empty"};
  return key;
}

}  // namespace tmpi::net
