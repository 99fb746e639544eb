#include "launch/launcher/node_set.hpp"

#include <fmt/core.h>

#include <utility>

#include "launch/system/descriptor_limit.hpp"

namespace tmpi::launch {
namespace {

constexpr rlim_t kOwnDescriptors = 64;

}  // namespace

// This process has found the socket open, and owns it from now on.
Channel NodeSet::attached_channel(const NodePlan& node) const {
  Channel channel{Fd(node.channel)};
  channel.seal(plan_.key->secret, net::kLauncherNode, node.attached_as);
  return channel;
}

Result<void> NodeSet::start() {
  // A job of hundreds of node processes needs more than the usual soft limit.
  raise_descriptor_limit(static_cast<rlim_t>(planned()) * kPollsPerNode + kOwnDescriptors);
  for (const NodePlan& node : plan_.unneeded) {
    unneeded_.push_back(attached_channel(node));
    unneeded_.back().send(FrameType::kEndNow, -1, 0, {});
  }
  for (int number = 0; number < planned(); ++number) {
    const NodePlan& plan = plan_.nodes[static_cast<std::size_t>(number)];
    if (plan.channel >= 0) {
      nodes_.push_back(std::make_unique<Node>(number, plan, NodeProcess::adopt(attached_channel(plan))));
      continue;
    }
    Result<NodeProcess> process = NodeProcess::start(
        plan.command, plan.remote ? NodeProcess::Place::kStandard : NodeProcess::Place::kDescriptor);
    if (!process) return process.failure();
    nodes_.push_back(std::make_unique<Node>(number, plan, *std::move(process)));
  }
  return {};
}

std::string NodeSet::name_of(const Node& node) const {
  if (!several()) return fmt::format("the node process on host {}", node.host());
  return fmt::format("node process {} on host {}", node.number(), node.host());
}

void NodeSet::collect() const {
  for (const auto& node : nodes_) node->collect();
}

bool NodeSet::leave_stuck() const {
  bool any = false;
  const auto now = Node::Clock::now();
  for (const auto& node : nodes_) any = node->leave_if_stuck(now) || any;
  return any;
}

void NodeSet::kill() const {
  for_each_running([](Node& node) { node.kill(); });
}

void NodeSet::watch(std::vector<pollfd>& requests, bool take_more) const {
  for (const auto& node : nodes_) {
    const short events = static_cast<short>((take_more ? POLLIN : 0) | (node->wants_to_send() ? POLLOUT : 0));
    // Left out if nothing is wanted of it: that its process has ended would be said again and again.
    requests.push_back({events != 0 ? node->control() : -1, events, 0});
    for (const int stream : {1, 2}) requests.push_back({take_more ? node->pipe(stream) : -1, POLLIN, 0});
  }
}

}  // namespace tmpi::launch
