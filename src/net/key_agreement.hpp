// Key agreement: two processes that know each other's public keys have secrets in common that nobody else knows,
// though everybody may read what goes between them (X25519, libsodium's crypto_kx). With it the job's key gets to node
// processes that somebody else has started: docs/design/launchers.md says who is trusted.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "net/secret.hpp"

namespace tmpi::net {

/// May be known to everybody.
using PublicKey = std::array<unsigned char, 32>;

/// As hexadecimal text, and back.
std::string to_text(const PublicKey& key);
Result<PublicKey> public_key_from_text(std::string_view text);

/// What the launcher and one node process have in common.
struct SharedSecrets {
  Secret handshake;  ///< each proves to the other that it has it (handshake.hpp)
  Secret delivery;   ///< seals the job's key
};

class KeyPair {
 public:
  /// A new one. Failure: no random numbers, or no libsodium.
  static Result<KeyPair> draw();
  const PublicKey& public_key() const noexcept { return public_; }

  /// Failure: `node`, `launcher` is no public key.
  Result<SharedSecrets> share_with_node(const PublicKey& node) const;
  Result<SharedSecrets> share_with_launcher(const PublicKey& launcher) const;

 private:
  PublicKey public_{};
  Secret private_;
};

/// A job's key as it travels: encrypted and authenticated (crypto_secretbox), of fixed size.
using SealedKey = std::array<unsigned char, 80>;
Result<SealedKey> seal(const JobKey& key, const Secret& delivery);
/// Failure: it was not sealed with this secret, or has been changed.
Result<JobKey> unseal(const SealedKey& sealed, const Secret& delivery);

}  // namespace tmpi::net
