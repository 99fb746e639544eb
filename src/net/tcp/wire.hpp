// What crosses a tcp connection after the handshake: frames, fixed width, little-endian. A change here needs
// a new kHandshakeProtocol (net/handshake_wire.hpp).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tmpi::net::tcp {

static_assert(std::endian::native == std::endian::little, "the wire is little-endian and read in place");

inline constexpr std::size_t kMostHeader = 512;  ///< bytes of an active message's header
inline constexpr std::uint64_t kMostPayload = std::uint64_t{1} << 48;  ///< more makes no sense: garbage

enum class FrameKind : std::uint8_t {
  kMessage = 1,  ///< header and payload follow
  kGoodbye = 2,  ///< nothing follows, ever: the end of the stream after this is no loss
};

struct FrameHeader {
  FrameKind kind;
  std::uint8_t id;       ///< of the active message
  std::uint16_t header;  ///< bytes
  std::uint32_t reserved;
  std::uint64_t payload;  ///< bytes
};
static_assert(sizeof(FrameHeader) == 16 && std::is_trivially_copyable_v<FrameHeader>);
static_assert(offsetof(FrameHeader, header) == 2 && offsetof(FrameHeader, payload) == 8);

}  // namespace tmpi::net::tcp
