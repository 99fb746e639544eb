// PortCalls: the node process's part in connections (docs/design/dynamic-processes.md): hands what a rank asks about ports and
// names to tmpirun, and suspends the rank until the answer is here.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "launch/wire/frames.hpp"
#include "mpi/rank/callbacks.hpp"
#include "mpi/rank/rank.hpp"
#include "sched/waiter.hpp"

namespace tmpi::launch {

class PortCalls {
 public:
  /// mpi::Callbacks::ports. SUSPENDS.
  mpi::PortAnswer ask(const mpi::Rank& rank, const mpi::PortCall& call);

  /// kPortReply. The control thread; returns at once.
  void on_frame(const Frame& frame);

 private:
  struct Pending {
    sched::Waiter* waiter = nullptr;  // null: nobody waits at the moment
    bool answered = false;
    bool told = false;  // that it waits is no news
    mpi::PortAnswer answer;
  };

  class Entry;

  bool answered_within(double seconds, const Pending& pending);

  std::mutex mutex_;
  std::map<std::int64_t, Pending*> pending_;  // on the stacks of those who wait
  std::int64_t requests_ = 0;
};

}  // namespace tmpi::launch
