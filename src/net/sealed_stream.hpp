// SealedStream: what two processes of a job say to each other over a stream socket, so that nobody on the way reads it or
// changes it unseen. Each direction is one stream of libsodium's secretstream (XChaCha20-Poly1305), with a key of its own
// that is derived from the job's secret: pieces that were changed, left out, repeated or taken from elsewhere do not open.
// A stream that is cut short ends like any connection that breaks; what was said last tells whether it was complete.
//
//     24 bytes: the stream's header, then pieces:  length (4 bytes, little-endian) | that many sealed bytes
#pragma once

#include <sodium.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "net/handshake.hpp"
#include "net/secret.hpp"

namespace tmpi::net {

class SealedStream {
 public:
  /// Between node process `own`, this one, and `peer` of the job with this secret (kLauncherNode: tmpirun), for what `role` is for.
  SealedStream(const Secret& job, Role role, std::int32_t own, std::int32_t peer);
  /// One that goes on in another process: `state` is its state().
  explicit SealedStream(std::string_view state);
  SealedStream(const SealedStream&) = delete;
  SealedStream& operator=(const SealedStream&) = delete;

  /// Sends bytes from the front of `plain`, as many as go at once, and returns how many have gone (0: later); the next call
  /// begins with those that have not. -1: the other end is gone. Waits if the socket does.
  ssize_t send(int socket, std::string_view plain) noexcept;

  /// Receives once, and appends to `plain` what has come. Returns the bytes received (not those appended); 0: the other end
  /// is gone; -1 and errno: EAGAIN, EINTR, or EBADMSG: what came was not sent by the other end, and nothing more is read.
  ssize_t receive(int socket, std::string& plain);

  /// As secret as the key. When something has been received and nothing is left to be sent.
  std::string state() const;

 private:
  bool open_pieces(std::string& plain);
  void seal(std::string_view plain);

  crypto_secretstream_xchacha20poly1305_state sending_, receiving_;
  std::string out_;         // sealed, on its way
  std::size_t sealed_ = 0;  // bytes of the caller's in it
  std::string in_;          // received, not opened yet
  Secret receiving_key_;
  bool header_known_ = false;
  bool broken_ = false;
};

}  // namespace tmpi::net
