// ControlChannel: the wire-up through tmpirun. Frames go as they are over a socket pair, or over the standard
// streams of a remote shell.
#pragma once

#include <optional>
#include <string>

#include "launch/control/wireup.hpp"

namespace tmpi::launch {

class ControlChannel : public Wireup {
 public:
  /// Reads from `in`, writes to `out`, which may be the same; both are closed on exec. `preamble`: over a
  /// remote shell.
  ControlChannel(int in, int out, bool preamble);
  /// Goes on with one that has said hello: `received` is the job and what has come behind it.
  ControlChannel(int in, int out, std::string received);

  Result<Assignment> receive_job(FrameReader& incoming) override;
  Watched watched() const noexcept override { return {in_, out_}; }
  ssize_t send(std::string_view frames) noexcept override;
  bool receive(FrameReader& incoming) override;

 protected:
  int socket() const noexcept { return in_; }
  /// As write() and read(), the latter into `incoming`.
  virtual ssize_t put(std::string_view bytes) noexcept;
  virtual ssize_t get(FrameReader& incoming);

 private:
  bool send_all(std::string_view bytes) noexcept;
  bool say_hello();

  int in_;
  int out_;
  bool preamble_ = false;
  std::optional<std::string> received_;  ///< when it goes on
};

}  // namespace tmpi::launch
