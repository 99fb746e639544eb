// What node processes that use verbs say to each other: frames through queue pairs, and before that, through tcp, by
// which queue pairs are connected.
#pragma once

#include <cstdint>
#include <type_traits>

namespace tmpi::net::verbs {

enum class FrameKind : std::uint8_t {
  kWhole = 1,    ///< header and payload
  kBegin = 2,    ///< header and the first part of the payload; kMore follow
  kMore = 3,     ///< the next part: `header` is 0, `payload` the part's size
  kOffer = 4,    ///< header; the payload is to be read from the sender's memory (Offer, behind the header)
  kCredit = 5,   ///< nothing but what every frame carries; takes no credit itself
  kRead = 6,     ///< the same, with credit: what has been offered has been read
  kGoodbye = 7,  ///< nothing more comes from there; takes no credit
};

/// Begins each frame.
struct FrameHeader {
  FrameKind kind{};
  std::uint8_t id = 0;
  std::uint16_t header = 0;   ///< bytes of the message's header, right behind
  std::uint16_t credits = 0;  ///< so many of your frames have left my receive buffers
  std::uint16_t reads = 0;    ///< so many of your offers have been read
  std::uint64_t payload = 0;  ///< bytes of the message's payload (kMore: of the part)
};
static_assert(sizeof(FrameHeader) == 16 && std::is_trivially_copyable_v<FrameHeader>);

/// Where the payload of an offered message can be read.
struct Offer {
  std::uint64_t address = 0;
  std::uint32_t key = 0;
  std::uint32_t reserved = 0;
};
static_assert(sizeof(Offer) == 16 && std::is_trivially_copyable_v<Offer>);

/// Ids of messages through tcp.
enum class SideId : std::uint8_t {
  kConnect = 1,  ///< Connect: my queue pair for you
  kReady = 2,    ///< mine can receive: send
};

inline constexpr std::uint32_t kConnectMagic = 0x76627331;  // "vbs1"

struct Connect {
  std::uint32_t magic = kConnectMagic;
  std::uint32_t queue_pair = 0;
  std::uint32_t first_packet = 0;  ///< packet sequence number with which my queue pair begins
  std::uint32_t credits = 0;       ///< frames that may lie unreceived here
  std::uint32_t buffer_bytes = 0;  ///< of one frame
  std::uint16_t lid = 0;           ///< InfiniBand: the port's address in its subnet
  std::uint8_t mtu = 0;            ///< enum ibv_mtu
  std::uint8_t ethernet = 0;       ///< 1: RoCE
  std::uint8_t gid[16] = {};
  std::uint32_t most_reads = 0;  ///< RDMA reads that my queue pair serves at a time
  std::uint32_t reserved = 0;
};
static_assert(sizeof(Connect) == 48 && std::is_trivially_copyable_v<Connect>);

}  // namespace tmpi::net::verbs
