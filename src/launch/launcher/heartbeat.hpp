// Heartbeat: frames that tell node processes on other machines that tmpirun is there. They end when they hear none
// for a while (control.cpp), since a connection may be dead without anybody saying so.
#pragma once

#include "launch/launcher/deadlines.hpp"
#include "launch/launcher/node_set.hpp"

namespace tmpi::launch {

class Heartbeat {
 public:
  explicit Heartbeat(const NodeSet& nodes) : nodes_(nodes) {}

  /// From now on, every kHeartbeat. Only with other machines.
  void begin() { beat(); }
  /// When beat() is due; nothing before begin().
  const Deadline& deadline() const { return next_; }
  void beat() { send(false); }
  /// tmpirun is about to be stopped: no more come until the next one.
  void pause() {
    if (next_) send(true);
  }

 private:
  void send(bool last) {
    next_ = Clock::now() + kHeartbeat;
    nodes_.for_each_running([&](Node& node) {
      if (node.remote()) node.send(FrameType::kHeartbeat, last ? 1 : 0, "");
    });
  }

  const NodeSet& nodes_;
  Deadline next_;
};

}  // namespace tmpi::launch
