// Link: everything about one peer: the way to a connection (lazily, by either side), what is queued, and the
// connection. Everything but send() is called from poll(), arm() or close().
//
// Both sides may connect at once. The node with the lower number then has its way: it refuses the other's
// connection, which waits for this one instead. An end decides only when it knows for certain who is calling,
// and no message leaves before its receiver has accepted the connection, so nothing is lost in a race.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/sealed_stream.hpp"
#include "net/tcp/acceptor.hpp"
#include "net/tcp/context.hpp"
#include "net/tcp/frame_parser.hpp"
#include "net/tcp/send_queue.hpp"

namespace tmpi::net::tcp {

class Link {
 public:
  static constexpr std::size_t kMostBuffered = 64 << 10;  ///< Limits::most_buffered
  static constexpr std::size_t kMostCopied = 1 << 20;     ///< bytes in the queue before kNoResource
  static constexpr std::size_t kMostReferences = 64;      ///< large messages in the queue before kNoResource
  static constexpr std::uint32_t kBurst = 4;              ///< messages between two polls that leave at once
  static constexpr std::size_t kBurstBytes = 2 << 10;     ///< of later ones, that leave together

  Link(Context& context, int peer) noexcept : context_(context), peer_(peer), parser_(peer, *context.sink) {}
  void set_peer(std::string host, std::vector<Endpoint> addresses);

  Post send(std::uint8_t id, std::span<const std::byte> header, std::span<const iovec> payload,
            Completion* completion) noexcept;

  void on_event(std::uint32_t events) noexcept;
  /// Looks for something to receive without having been told of it.
  void peek() noexcept;
  /// Does what there is to do; true if anything happened. What remains is in Context::active again.
  bool work() noexcept;
  /// When on_time() will have something to do; kNever.
  std::uint64_t next_time() const noexcept;
  /// That time has come: gives up connecting, tries again, looks after a peer that is silent.
  void on_time(std::uint64_t now) noexcept;

  /// The peer has connected: may it?
  Objection objection() const noexcept;
  void adopt(Fd fd) noexcept;

  bool idle() const noexcept { return queue_.empty(); }
  bool gone() const noexcept { return state_ == State::kGone; }
  const FrameParser::Counts& received() const noexcept { return parser_.counts(); }

  /// Says goodbye behind everything queued; what arrives from now on is dropped.
  void begin_close() noexcept;
  /// True when all of it is with the peer's host.
  bool closed() noexcept;
  /// Forgets what could not be sent.
  void end_close() noexcept;

  /// In Context::active. Its owner takes links out of there.
  bool listed = false;

 private:
  enum class State : std::uint8_t {
    kNone,         // nobody has needed a connection
    kConnecting,   // to addresses_[attempt_]
    kHandshaking,  // connected, who is it?
    kPausing,      // cut off in the middle of the handshake, or without descriptors: tries again at deadline_
    kAwaiting,     // the peer's own attempt has precedence; asks again at deadline_
    kUp,
    kGone,  // the peer has said goodbye
    kLost,
  };

  void list_as_active() noexcept;
  void connect() noexcept;
  bool continue_connecting() noexcept;
  void attempt_failed(std::string why, bool may_pass) noexcept;
  void establish() noexcept;
  void on_connect_time() noexcept;
  bool in_burst(std::size_t bytes) noexcept;
  bool write_at_once(Outgoing& message) noexcept;
  bool flush() noexcept;
  ssize_t send_sealed(const iovec* pieces, std::size_t count) noexcept;
  bool receive() noexcept;
  bool receive_sealed() noexcept;
  void understand(std::span<const std::byte> bytes) noexcept;
  void stream_ended(int error) noexcept;
  void become_gone() noexcept;
  void lose(const std::string& why) noexcept;
  std::string name() const;

  Context& context_;
  const int peer_;
  State state_ = State::kNone;
  bool readable_ = false;        // there may be something to read
  bool writable_ = false;        // the socket may have room
  bool hung_up_ = false;         // what may be read ends with the end of the stream
  bool closing_ = false;         // begin_close()
  bool large_expected_ = false;  // the last payload that did not come whole with its header was large
  bool unchecked_ = false;       // has sent since the last look at whether the peer's host answers
  int write_error_ = 0;
  std::uint32_t since_poll_ = 0;  // messages sent since polls_
  std::uint64_t polls_ = 0;
  Fd fd_;
  std::unique_ptr<SealedStream> sealed_;  // of a connection that is up, if it is to be
  SendQueue queue_;
  FrameParser parser_;

  std::string host_;
  std::vector<Endpoint> addresses_;
  std::size_t attempt_ = 0;
  int pauses_ = 0;
  std::uint64_t deadline_ = 0;
  std::string trouble_;    // of the attempts so far
  int error_at_once_ = 0;  // why there is not even a socket, to be told by the next poll()
  std::unique_ptr<Handshake> handshake_;
};

}  // namespace tmpi::net::tcp
