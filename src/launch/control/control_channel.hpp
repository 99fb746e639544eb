// ControlChannel: the way between a node process and tmpirun, from its side. Frames of wire.hpp go both ways: the node process
// learns what it runs, publishes its address and gets those of the others, reports what its ranks print and how they end,
// and learns that the job ends. It goes over the descriptors that tmpirun has given to the node process, over the
// streams of a remote shell, or over a connection of a node process that others have started and that has attached
// itself (attachment.hpp). Any other who would start node processes has to do with its frames, and to make up:
//
//     frame of the node process     what is to happen
//     kHello, kDone, kExits         tell the starter that the node process is there, has finished, with which
//                                   exit codes (kDone is the last frame)
//     kAddress                      publish; once all are known: kAddresses to the node process
//     kOutput, kNotice, kEnd        print; kEnd also ends the job everywhere, with the record's code
//     kLost                         a peer is gone: end the job, unless the starter does so by itself
//     kStdinWanted                  answer with kStdin: bytes, or nothing at the end of the file
//     kStateDump                    print (state_dump.hpp), if it was asked for by kStateDumpWanted
//     others                        may be ignored
//
// After receive_job() only the control thread calls, and nothing blocks but close().
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "launch/spec/node_spec.hpp"
#include "launch/wire/channel.hpp"
#include "net/secret.hpp"

namespace tmpi::launch {

class ControlChannel {
 public:
  /// To a tmpirun that has started this node process; `preamble`: by a remote shell.
  explicit ControlChannel(Channel channel, bool preamble = false);
  /// Over a connected socket, over which the node process has attached itself as `number`: sealed with the key.
  ControlChannel(Fd socket, const net::JobKey& key, int number);
  /// Goes on with one that has said hello: `received` is the job, with the key, and what has come behind it.
  ControlChannel(Channel channel, std::string received);

  /// The starter is not told how the job ends, but tmpirun; see close().
  bool attached() const noexcept { return channel_.sealed(); }

  /// Says hello and learns what this node process runs, and who else takes part. What has come behind the job is to be
  /// had by next(). Blocks; once, before all others. Failure: a sentence for the user.
  Result<Assignment> receive_job();

  const Channel& channel() const noexcept { return channel_; }

  /// Takes bytes from the front of `frames`, a stream of whole frames, as many as go at once (0: none now);
  /// -1: tmpirun is gone, and the node process is to end at once.
  ssize_t send(std::string_view frames) noexcept;
  /// When it is readable. False: tmpirun is gone.
  bool receive() { return channel_.receive() != Channel::Received::kEnd; }
  FrameReader::Status next(Frame& frame) { return channel_.next(frame); }

  /// All frames have been taken; the process is about to end with the exit code that this returns. May block.
  int close(int code) noexcept;

  /// Says at the socket of an attached node process that nothing more comes, and waits until tmpirun has closed its end, too.
  /// False: nothing has come for so many milliseconds; -1: for ever.
  static bool await_end(int socket, int milliseconds) noexcept;

 private:
  bool say_hello();

  Channel channel_;
  bool preamble_ = false;
  std::optional<net::JobKey> key_;       // of one that is attached, which tmpirun does not send once more
  std::optional<std::string> received_;  // when it goes on
};

}  // namespace tmpi::launch
