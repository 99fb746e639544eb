// FrameHandler: what node processes say on their control channels, brought to the pieces of the job.
#pragma once

#include <set>

#include "launch/launcher/job.hpp"

namespace tmpi::launch {

class FrameHandler {
 public:
  explicit FrameHandler(Job& job) : job_(job) {}

  /// The control channel of `node` is readable: reads and serves some of what has come, so that signals and outputs
  /// get their turn.
  void on_readable(Node& node);

 private:
  void on_frame(Node& node, const Frame& frame);
  void on_notice(const Frame& frame);
  void on_noise(Node& node);
  void on_nonsense(const Node& node, const Frame& frame);
  void on_exits(const Node& node, const Frame& frame);
  void on_end(const Node& node, const Frame& frame);
  void check_leaving();

  Job& job_;
  std::set<NoticeKind> said_;  // of those that are said once
};

}  // namespace tmpi::launch
