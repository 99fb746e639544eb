// Until the protocol layer is there: ranks of different node processes cannot talk.
#include "launch/node_network.hpp"

#include "launch/control.hpp"

namespace tmpi::launch {

Result<void> open_network(const JobSpec&, const NodeSpec& node) {
  Control::instance()->publish_address(std::to_string(node.node));
  return {};
}

Result<void> join_network(sched::Scheduler&) {
  Control::instance()->await_addresses();
  return {};
}

void leave_network() {}

}  // namespace tmpi::launch
