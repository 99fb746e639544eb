// Wireup: the way between a node process and whoever has started it. Frames of wire.hpp go both ways over it:
// the node process learns what it runs, publishes its address and gets those of the others, reports what its
// ranks print and how they end, and learns that the job ends. Both implementations lead to tmpirun and carry
// frames as they are: over the descriptors that it has given to the node process (control_channel.hpp), and
// over a connection of a node process that others have started (attached_channel.hpp). What any other would
// have to do with the frames, and which it would have to make up:
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
// After receive_job() only the control thread calls, one function at a time; nothing may block there.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "launch/spec/node_spec.hpp"
#include "launch/wire/frames.hpp"

namespace tmpi::launch {

class Wireup {
 public:
  virtual ~Wireup() = default;

  /// Says hello and learns what this node process runs, and who else takes part. What has come behind the job
  /// stays in `incoming`. Blocks; once, before all others. Failure: a sentence for the user.
  virtual Result<Assignment> receive_job(FrameReader& incoming) = 0;

  /// What the control thread polls: `in` for reading; `out` for writing while send() has not taken
  /// everything. -1: nothing.
  struct Watched {
    int in = -1;
    int out = -1;
  };
  virtual Watched watched() const noexcept = 0;

  /// Takes bytes from the front of `frames`, a stream of whole frames, as many as go at once (0: none now);
  /// -1: the starter is gone, and the node process will end at once.
  virtual ssize_t send(std::string_view frames) noexcept = 0;

  /// When `in` is readable: puts what has come into `incoming`. False: the starter is gone.
  virtual bool receive(FrameReader& incoming) = 0;

  /// What another process that takes this one's place needs to go on where receive_job() has ended; empty: the descriptors.
  virtual std::string state() const { return {}; }

  /// All frames have been taken; the process ends with `code` when this returns. May block.
  virtual void close(int code) noexcept { static_cast<void>(code); }
};

}  // namespace tmpi::launch
