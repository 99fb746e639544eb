// AttachedChannel: the wire-up of a node process that neither tmpirun nor its remote shell has started
// (attachment.hpp). Its exit code is not what tmpirun learns about it, but the starter does: it is zero
// however the job has ended, so that tmpirun's own code is the only one that the starter sees.
#pragma once

#include "launch/control/control_channel.hpp"

namespace tmpi::launch {

class AttachedChannel : public ControlChannel {
 public:
  /// A connected socket. `key`: what tmpirun does not send, since the channel is not encrypted.
  AttachedChannel(int socket, const net::JobKey& key) : ControlChannel(socket, socket, false), key_(key) {}

  Result<Assignment> receive_job(FrameReader& incoming) override;

  void close(int code) noexcept override;

 private:
  net::JobKey key_;
};

}  // namespace tmpi::launch
