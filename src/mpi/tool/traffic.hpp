// What messages come to: per rank (RankFigures) while somebody counts them, and per communicator and peer where a
// handle of the tools interface is bound to a communicator.
#pragma once

#include <memory>

#include "mpi/comm/comm.hpp"
#include "mpi/rank/figures.hpp"

namespace tmpi::mpi::tool {

/// Messages are counted until discount_messages() has been called as often. Any thread; do not suspend.
void count_messages() noexcept;
void discount_messages() noexcept;

/// One rank's messages in one communicator, by peer: point-to-point, and those of blocking collectives.
struct CommTraffic {
  struct Peer {
    MessageFigures sent;
    MessageFigures received;
  };

  /// Counts from now on, for `owner`, while it lives. May allocate.
  CommTraffic(Rank& owner, const Comm& comm);
  ~CommTraffic();
  CommTraffic(const CommTraffic&) = delete;

  Rank& owner;
  const ContextId context;
  const std::shared_ptr<const Group> peers;
  const std::unique_ptr<Peer[]> by_peer;
  CommTraffic* next = nullptr;  // of the rank's; under its lock
};

}  // namespace tmpi::mpi::tool
