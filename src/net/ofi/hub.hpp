// Hub: what the links of one ofi transport share.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "net/ofi/fabric.hpp"
#include "net/ofi/frame_pool.hpp"
#include "net/tcp/tcp.hpp"
#include "net/transport.hpp"

namespace tmpi::net::ofi {

class Link;
struct Read;

struct Hub {
  Fabric* fabric = nullptr;
  FramePool* frames = nullptr;
  Sink* sink = nullptr;
  tcp::Tcp* side = nullptr;  ///< by which node processes know each other, and deaths are noticed
  int node = 0;
  std::uint32_t credits = 0;  ///< frames of a peer that may lie unreceived here
  std::size_t most_read = 0;  ///< bytes of one read

  bool closing = false;
  std::uint64_t under_way = 0;        ///< Works that have not been completed, but receives
  std::vector<Link*> waiting;         ///< links that have something to send
  std::vector<Link*> owing;           ///< links that may have to return credit, or say what has been read
  std::vector<Link*> ending;          ///< links that are to be reported as lost, or whose peer has ended
  std::vector<Read*> blocked;         ///< reads that libfabric has had no room for
  std::vector<Link*> orphans;         ///< links that are no more, with reads that have not been completed
  std::vector<Completion*> finished;  ///< to be told by the next poll()
  std::unordered_map<std::uint64_t, Registered> exposed;  ///< by key: what others may read
  Transport::Traffic traffic;
};

using tcp::nanoseconds_now;

}  // namespace tmpi::net::ofi
