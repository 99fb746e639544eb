// PortDesk: tmpirun's part in connections (docs/dynamic-processes.md): answers what ranks ask about ports and names.
// tmpirun's one thread.
#pragma once

#include <optional>

#include "launch/launcher/node_set.hpp"
#include "launch/ports/port_registry.hpp"
#include "launch/wire/frames.hpp"

namespace tmpi::launch {

class PortDesk {
 public:
  PortDesk(const JobPlan& plan, const NodeSet& nodes) : plan_(plan), nodes_(nodes) {}

  /// kPortCall. False: the frame is none of ours.
  bool on_call(const Node& node, const Frame& frame);

 private:
  const JobPlan& plan_;
  const NodeSet& nodes_;
  std::optional<PortRegistry> registry_;  // with the first call
};

}  // namespace tmpi::launch
