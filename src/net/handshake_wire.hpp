// What crosses the wire in a handshake (handshake.hpp): fixed width, little-endian. Raise
// kHandshakeProtocol when anything behind the preamble changes, or anything that a transport sends after it.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "net/proof.hpp"

namespace tmpi::net {

static_assert(std::endian::native == std::endian::little, "the wire is little-endian and read in place");

inline constexpr unsigned char kHandshakeMagic[8] = {'T', 'M', 'P', 'I', '\r', '\n', 0x1a, 0xff};
inline constexpr std::uint32_t kHandshakeProtocol = 2;

/// The first 112 bytes of a connection in either direction: never change, so that any two versions of tmpi
/// can tell that they differ, and whose is whose.
struct Preamble {
  unsigned char magic[8];
  std::uint32_t protocol;
  std::uint32_t reserved;
  char version[40];  ///< ends with a zero
  char host[56];     ///< the speaker's; ends with a zero
};
static_assert(sizeof(Preamble) == 112);

struct Hello {
  Preamble preamble;
  std::uint64_t job;
  std::int32_t from;  ///< node number of the speaker
  std::int32_t to;    ///< whom it means; an acceptor says whom it has understood
  std::uint8_t role;
  std::uint8_t reserved[15];
  Challenge challenge;
};
static_assert(sizeof(Hello) == 160 && std::is_trivially_copyable_v<Hello>);
static_assert(offsetof(Hello, job) == 112 && offsetof(Hello, role) == 128 &&
              offsetof(Hello, challenge) == 144);

struct Answer {
  std::uint32_t refusal;  ///< Refusal; kNone: go on
  std::uint32_t reserved;
  Proof proof;
  char sentence[120];  ///< of a refusal; ends with a zero
};
static_assert(sizeof(Answer) == 160 && std::is_trivially_copyable_v<Answer>);
static_assert(offsetof(Answer, proof) == 8 && offsetof(Answer, sentence) == 40);

}  // namespace tmpi::net
