// The secret of a job: 256 random bits that only the processes of the job know, by which they prove to each other
// that they belong to it (proof.hpp). Drawing and holding it needs nothing but the kernel. How it gets to node
// processes on other machines, and who is trusted on the way: docs/design/launchers.md.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.hpp"

namespace tmpi::net {

/// Where random bytes come from: getrandom(2) or, in tests, something that is called like it.
using RandomSource = ssize_t (*)(void* buffer, std::size_t bytes, unsigned flags);

/// Fills `bytes` from the kernel. Failure: it gives none; `bytes` is all zero then, and must not be used.
Result<void> draw_random(std::span<std::byte> bytes, RandomSource source = nullptr);

/// Overwrites what must not stay in memory; the compiler does not leave it out.
void wipe(std::span<std::byte> bytes) noexcept;
void wipe(std::string& text) noexcept;
/// Takes the first bytes out of a buffer, where nothing stays of them.
void wipe_front(std::string& text, std::size_t bytes) noexcept;

/// Overwritten when it is destroyed, each copy for itself.
struct Secret {
  std::array<unsigned char, 32> bytes{};

  Secret() = default;
  Secret(const Secret&) = default;
  Secret& operator=(const Secret&) = default;
  ~Secret() { wipe(std::as_writable_bytes(std::span(bytes))); }

  /// Failure: the kernel gives no random numbers.
  static Result<Secret> draw(RandomSource source = nullptr);
  /// None has been drawn. Such a one authenticates nobody.
  bool empty() const noexcept { return bytes == std::array<unsigned char, 32>{}; }
};

/// By what the connections between a job's processes know each other.
struct JobKey {
  std::uint64_t job = 0;  ///< the same in all processes of a job, different between jobs; no secret
  Secret secret;

  static Result<JobKey> draw(RandomSource source = nullptr);
};

}  // namespace tmpi::net
