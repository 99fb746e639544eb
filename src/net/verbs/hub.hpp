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
#include "net/verbs/frame_pool.hpp"
#include "net/verbs/registrations.hpp"
#include "net/verbs/wire.hpp"

namespace tmpi::net::verbs {

class Link;

/// Links by the number of this end's queue pair. Most completions are of the one that the last one was of.
class LinksByPair {
 public:
  void add(std::uint32_t pair, Link& link) { links_[pair] = &link; }
  void remove(std::uint32_t pair) noexcept {
    links_.erase(pair);
    last_ = nullptr;
  }
  /// Null: it is no more.
  Link* find(std::uint32_t pair) noexcept {
    if (pair == last_pair_ && last_ != nullptr) [[likely]]
      return last_;
    const auto found = links_.find(pair);
    if (found == links_.end()) return nullptr;
    last_pair_ = pair;
    return last_ = found->second;
  }

 private:
  std::unordered_map<std::uint32_t, Link*> links_;
  std::uint32_t last_pair_ = 0;
  Link* last_ = nullptr;
};

inline constexpr std::size_t kMostBuffered = 16 << 10;  ///< Limits::most_buffered

struct Hub {
  Device* device = nullptr;
  Sink* sink = nullptr;
  tcp::Tcp* side = nullptr;  ///< by which queue pairs are connected, and deaths noticed
  int node = 0;

  std::uint64_t patience = 0;   ///< nanoseconds: see work_watch.hpp
  std::uint64_t under_way = 0;  ///< work requests of all links
  std::size_t most_read = 0;    ///< bytes of one RDMA read
  Registrations registrations;
  Exposures exposures;

  bool closing = false;
  std::vector<Link*> waiting;         ///< links whose queue is not empty
  std::vector<Link*> owing;           ///< links that may have to return credit
  std::vector<Link*> failing;         ///< links to be reported as lost
  std::vector<Link*> released;        ///< siblings whose frames are kept back no longer
  std::vector<Link*> goodbyes;        ///< links whose peer has said goodbye
  std::vector<Completion*> finished;  ///< to be told by the next poll()
  LinksByPair by_pair;
  Transport::Traffic traffic;
};

using tcp::nanoseconds_now;

}  // namespace tmpi::net::verbs
