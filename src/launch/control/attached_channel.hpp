// AttachedChannel: the wire-up of a node process that neither tmpirun nor its remote shell has started
// (attachment.hpp). Its exit code is not what tmpirun learns about it, but the starter does: it is zero
// however the job has ended, so that tmpirun's own code is the only one that the starter sees.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "launch/control/control_channel.hpp"
#include "net/sealed_stream.hpp"

namespace tmpi::launch {

class AttachedChannel : public ControlChannel {
 public:
  /// A connected socket, over which the node process has attached itself as `number`. What is said is sealed with the key.
  AttachedChannel(int socket, const net::JobKey& key, int number)
      : ControlChannel(socket, socket, false),
        key_(key),
        stream_(key.secret, net::Role::kControl, number, net::kLauncherNode) {}
  /// Goes on with one that has said hello: `received` is the job, with the key, and what has come behind it, and `state` was its
  /// state() then.
  AttachedChannel(int socket, std::string received, std::string_view state)
      : ControlChannel(socket, socket, std::move(received)), stream_(state) {}

  std::string state() const override { return stream_.state(); }

  Result<Assignment> receive_job(FrameReader& incoming) override;

  void close(int code) noexcept override;

  /// Says at the socket of such a channel that nothing more comes, and waits until tmpirun has closed its end, too. False:
  /// nothing has come for so many milliseconds; -1: for ever.
  static bool await_end(int socket, int milliseconds) noexcept;

 protected:
  ssize_t put(std::string_view bytes) noexcept override { return stream_.send(socket(), bytes); }
  ssize_t get(FrameReader& incoming) override;

 private:
  std::optional<net::JobKey> key_;  // which tmpirun does not send once more
  net::SealedStream stream_;
};

}  // namespace tmpi::launch
