// Channel: frames to another process and from it. Whoever makes one knows already who is at the other end:
//
//     over                              who is there, and who says so                   bytes
//     a socket pair                     tmpirun and its child: nobody else has it       as they are, inside the kernel
//     a Unix socket                     a process of the same user: the kernel          as they are, inside the kernel
//     a remote shell's streams          the tmpi-node that it has started: ssh          as they are; ssh encrypts them
//     TCP, to an AttachPort             who has the right key pair: the handshake       sealed (seal())
//
// These are all ways by which tmpirun, node processes and other jobs' tmpiruns talk. Messages of ranks go other ways:
// src/net; over TCP they are sealed with --net tcp:encrypt.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/fd.hpp"
#include "launch/wire/frames.hpp"
#include "net/sealed_stream.hpp"

namespace tmpi::launch {

class Channel {
 public:
  Channel() = default;  ///< closed
  /// A connected socket, or two descriptors, one for each way.
  explicit Channel(Fd socket) : in_(std::move(socket)) {}
  Channel(Fd in, Fd out) : in_(std::move(in)), out_(std::move(out)) {}

  /// All that is said from now on is sealed with the job's key: between node process `own`, this one, and `other` (kLauncherNode:
  /// tmpirun). Goes on with one that another program has sealed: `state` is its seal_state().
  void seal(const net::Secret& job, int own, int other);
  void seal_again(std::string_view state);
  bool sealed() const noexcept { return sealed_ != nullptr; }
  /// As secret as the key; empty if it is not sealed. When something has been received and nothing is left to be sent.
  std::string seal_state() const { return sealed_ != nullptr ? sealed_->state() : std::string(); }

  /// A remote shell may print something before it starts what has been asked for: all before the preamble goes to `noise`,
  /// which must outlive this.
  void await_preamble(std::string& noise) { noise_ = &noise; }
  bool awaits_preamble() const noexcept { return noise_ != nullptr; }

  /// For poll(); -1: closed.
  int in() const noexcept { return in_.get(); }
  int out() const noexcept { return out_ ? out_.get() : in_.get(); }
  void close();

  /// Bytes of whole frames, as write() takes them: those that have gone are counted (0: none now); -1 and errno. Waits if the
  /// descriptor does.
  ssize_t write(std::string_view frames) noexcept;

  /// Puts a frame on its way: what does not go at once waits for flush(). Nothing happens if the channel is closed.
  void send(FrameType type, int rank, std::uint16_t detail, std::string_view payload);
  /// False: the other end is gone; what has not gone is forgotten.
  bool flush();
  bool wants_to_send() const noexcept { return in_ && !unsent_.empty(); }

  enum class Received { kSomething, kNothing, kEnd };
  /// One read.
  Received receive();
  /// What has come another way.
  void add(std::string_view bytes) { frames_.add(bytes); }
  /// The next frame that has come; as FrameReader::next(). kGarbage, too, if what has come does not open.
  FrameReader::Status next(Frame& frame) {
    return forged_ ? FrameReader::Status::kGarbage : frames_.next(frame);
  }
  std::string_view unread() const noexcept { return frames_.unread(); }

 private:
  ssize_t receive_sealed();
  void find_preamble(std::string_view bytes);

  Fd in_, out_;                                // out_: none if it is in_
  std::unique_ptr<net::SealedStream> sealed_;  // null: bytes go as they are
  bool forged_ = false;                        // what has come does not open
  std::string* noise_ = nullptr;               // until the preamble has come
  FrameReader frames_;
  std::string unsent_;
};

}  // namespace tmpi::launch
