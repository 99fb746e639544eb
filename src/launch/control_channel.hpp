// ControlChannel: the wire-up through tmpirun. Frames go as they are over a socket pair, or over the standard
// streams of a remote shell.
#pragma once

#include "launch/wireup.hpp"

namespace tmpi::launch {

class ControlChannel : public Wireup {
 public:
  /// Reads from `in`, writes to `out`, which may be the same; both are closed on exec.
  ControlChannel(int in, int out);

  Result<Assignment> receive_job(FrameReader& incoming) override;
  Watched watched() const noexcept override { return {in_, out_}; }
  ssize_t send(std::string_view frames) noexcept override;
  bool receive(FrameReader& incoming) override;

 private:
  bool send_all(std::string_view bytes) noexcept;

  int in_;
  int out_;
};

}  // namespace tmpi::launch
