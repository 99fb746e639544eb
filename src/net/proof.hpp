// Proofs that one knows a secret, without sending it: each side sends a random challenge and answers the other's with
// a keyed hash (libsodium's crypto_auth) of both challenges and of what it claims to be (handshake.hpp).
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "net/secret.hpp"

namespace tmpi::net {

using Challenge = std::array<unsigned char, 16>;
using Proof = std::array<unsigned char, 32>;

/// Initializes the library; false if the system gives no random numbers. Before the others; cheap when repeated.
bool prepare_proofs() noexcept;

Challenge draw_challenge();

/// The proof of whoever knows the secret for these bytes (both challenges, role, who and whom).
Proof prove(const Secret& secret, std::span<const std::byte> statement) noexcept;
/// In constant time.
bool proves(const Proof& proof, const Secret& secret, std::span<const std::byte> statement) noexcept;

}  // namespace tmpi::net
