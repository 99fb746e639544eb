// Hub: what the links of one verbs transport share.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "net/tcp/tcp.hpp"
#include "net/transport.hpp"
#include "net/verbs/device.hpp"
#include "net/verbs/exposures.hpp"
#include "net/verbs/pools.hpp"
#include "net/verbs/registrations.hpp"
#include "net/verbs/wire.hpp"

namespace tmpi::net::verbs {

class Link;

inline constexpr std::size_t kMostHeader = 256;
inline constexpr std::size_t kMostBuffered = 16 << 10;  ///< payload of one frame
inline constexpr std::uint32_t kFrameBytes =
    sizeof(FrameHeader) + static_cast<std::uint32_t>(kMostHeader + kMostBuffered);
/// Receive buffers per peer for frames that take no credit: at most two that return credit are under way, since each
/// returns half of it or more, and one that says goodbye.
inline constexpr std::uint32_t kSpareBuffers = 4;

struct Hub {
  Device* device = nullptr;
  Sink* sink = nullptr;
  tcp::Tcp* side = nullptr;  ///< by which queue pairs are connected, and deaths noticed
  int node = 0;

  std::uint32_t credits = 0;  ///< frames that a peer may have unreceived here
  std::uint32_t depth = 0;    ///< work requests of a queue pair under way
  std::size_t most_read = 0;  ///< bytes of one RDMA read
  ReceivePool receives;
  SendPool sends;
  Registrations registrations;
  Exposures exposures;
  ibv_cq* sent = nullptr;
  ibv_cq* received = nullptr;

  bool closing = false;
  std::vector<Link*> waiting;                        ///< links whose queue is not empty
  std::vector<Link*> owing;                          ///< links that may have to return credit
  std::vector<Link*> failing;                        ///< links to be reported as lost
  std::vector<Completion*> finished;                 ///< to be told by the next poll()
  std::unordered_map<std::uint32_t, Link*> by_pair;  ///< by the number of this end's queue pair
  Transport::Traffic traffic;
};

std::uint64_t nanoseconds_now() noexcept;

}  // namespace tmpi::net::verbs
