// AttachedChannel: the wire-up of a node process that neither tmpirun nor its remote shell has started
// (attachment.hpp). Its exit code is not what tmpirun learns about it, but the starter does: it is zero
// however the job has ended, so that tmpirun's own code is the only one that the starter sees.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "launch/control/control_channel.hpp"

namespace tmpi::launch {

class AttachedChannel : public ControlChannel {
 public:
  /// A connected socket. `key`: what tmpirun does not send, since the channel is not encrypted.
  AttachedChannel(int socket, const net::JobKey& key) : ControlChannel(socket, socket, false), key_(key) {}
  /// Goes on with one that has said hello: `received` is the job, with the key, and what has come behind it.
  AttachedChannel(int socket, std::string received) : ControlChannel(socket, socket, std::move(received)) {}

  Result<Assignment> receive_job(FrameReader& incoming) override;

  void close(int code) noexcept override;

 private:
  std::optional<net::JobKey> key_;
};

}  // namespace tmpi::launch
