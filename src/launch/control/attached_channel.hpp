// AttachedChannel: the wire-up of a node process that neither tmpirun nor its remote shell has started
// (attachment.hpp). Its exit code is not what tmpirun learns about it, but the starter does: it is zero
// however the job has ended, so that tmpirun's own code is the only one that the starter sees.
#pragma once

#include "launch/control/control_channel.hpp"

namespace tmpi::launch {

class AttachedChannel : public ControlChannel {
 public:
  /// A connected socket.
  explicit AttachedChannel(int socket) : ControlChannel(socket, socket, false) {}

  void close(int code) noexcept override;
};

}  // namespace tmpi::launch
