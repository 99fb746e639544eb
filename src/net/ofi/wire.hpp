// What node processes that use ofi say to each other: frames through libfabric, and before that, through tcp, who they
// are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tmpi::net::ofi {

enum class FrameKind : std::uint8_t {
  kWhole = 1,    ///< header and payload
  kOffer = 2,    ///< header; the payload is to be read from the sender's memory (Offer, behind the header)
  kNotice = 3,   ///< nothing but what every frame carries; takes no credit
  kGoodbye = 4,  ///< nothing more comes from there; takes no credit
};

/// Begins each frame.
struct FrameHeader {
  std::uint64_t token = 0;  ///< what the receiver has given this sender, by tcp: strangers do not know it
  std::int32_t node = 0;    ///< the sender's number
  std::uint32_t sequence = 0;
  FrameKind kind{};
  std::uint8_t id = 0;
  std::uint16_t header = 0;   ///< bytes of the message's header, right behind
  std::uint16_t credits = 0;  ///< so many of your frames have left my receive buffers
  std::uint16_t reads = 0;    ///< so many of your offers have been read
  std::uint64_t payload = 0;  ///< bytes of the message's payload
};
static_assert(sizeof(FrameHeader) == 32 && std::is_trivially_copyable_v<FrameHeader>);

/// Where the payload of an offered message can be read.
struct Offer {
  std::uint64_t remote = 0;
  std::uint64_t key = 0;
};
static_assert(sizeof(Offer) == 16 && std::is_trivially_copyable_v<Offer>);

inline constexpr std::size_t kMostHeader = 512;
/// What libfabric's own layers (rxm) send as it is, without asking the receiver first.
inline constexpr std::size_t kFrameBytes = 16 << 10;
inline constexpr std::size_t kMostPayload = kFrameBytes - sizeof(FrameHeader) - kMostHeader;

/// Ids of messages through tcp.
enum class SideId : std::uint8_t {
  kConnect = 1,  ///< Connect: you may send me frames
  kHeard = 2,    ///< your goodbye has come, and all before it
};

inline constexpr std::uint32_t kConnectMagic = 0x6f666931;  // "ofi1"

struct Connect {
  std::uint32_t magic = kConnectMagic;
  std::uint32_t frame_bytes = kFrameBytes;
  std::uint64_t token = 0;    ///< to be in each frame
  std::uint32_t credits = 0;  ///< frames that may lie unreceived here
  std::uint32_t reserved = 0;
};
static_assert(sizeof(Connect) == 24 && std::is_trivially_copyable_v<Connect>);

}  // namespace tmpi::net::ofi
