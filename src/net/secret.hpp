// The job's secret: 256 random bits that tmpirun draws and gives to its node processes on a way that nobody
// else reads. Whoever connects to a port of the job proves that it knows the secret, without sending it: each
// side sends a random challenge and answers the other's with a keyed hash (libsodium's crypto_auth) of both
// challenges and of what it claims to be.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace tmpi::net {

struct Secret {
  std::array<unsigned char, 32> bytes{};
};

using Challenge = std::array<unsigned char, 16>;
using Proof = std::array<unsigned char, 32>;

/// Initializes the library; false if the system gives no random numbers. Before the others; cheap when
/// repeated.
bool prepare_secrets() noexcept;

Secret draw_secret();
Challenge draw_challenge();

/// The proof of whoever knows the secret for these bytes (both challenges, role, who and whom).
Proof prove(const Secret& secret, std::span<const std::byte> statement) noexcept;
/// In constant time.
bool proves(const Proof& proof, const Secret& secret, std::span<const std::byte> statement) noexcept;

/// As hexadecimal text, and back.
std::string to_text(const Secret& secret);
Result<Secret> secret_from_text(std::string_view text);

}  // namespace tmpi::net
