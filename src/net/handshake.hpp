// Handshake: what both ends of a new connection say before anything else, so that only node processes (and
// tmpirun) of the same job, of the same version of tmpi, talk to each other. Used by tcp's connections
// between nodes and by the launcher's control connections. Bytes in, bytes out: no socket in here
// (handshake_io.hpp), no clock, no allocation that depends on what comes. Whoever uses it sets a time limit.
//
//     initiator                                acceptor
//     Hello ------------------------------->
//          <------------------------------- Hello, Answer (proof)
//     Answer (proof) ----------------------->  knows whom it talks to: accept() or refuse()
//          <------------------------------- Answer
//
// A Hello is a claim (version, job, role, who, whom) and a challenge. The proofs are keyed hashes of both
// Hellos, the initiator's and the acceptor's different ones, so neither can be replayed or reflected. Nothing
// of the user's is sent before the last Answer. Every message has a fixed size, and an end reads no further
// than its own message: what follows the handshake in the stream is still there.
//
// This authenticates; it does not encrypt.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "net/proof.hpp"

namespace tmpi::net {

/// The version of this tmpi, as it is told and compared.
const char* own_version() noexcept;

/// What a connection is for. The acceptor's port serves one role.
enum class Role : std::uint8_t {
  kPeer = 1,        ///< between two nodes of a transport
  kControl = 2,     ///< a node process and the launcher
  kSealedPeer = 3,  ///< as kPeer, sealed from the end of the handshake on (sealed_stream.hpp)
};

inline constexpr std::int32_t kLauncherNode = -1;  ///< tmpirun's number

/// What an end says of itself.
struct Identity {
  std::int32_t node = 0;
  Role role = Role::kPeer;
  std::uint64_t job = 0;
  Secret secret;
  std::string host;  ///< for messages at the other end; cut after 55 bytes
  std::string version = own_version();
};

/// Why there is no connection.
enum class Refusal : std::uint32_t {
  kNone = 0,
  kGarbage = 1,    ///< not a tmpi at all
  kVersion = 2,    ///< another version of tmpi
  kJob = 3,        ///< another job
  kWrongNode = 4,  ///< not the node or role that was meant
  kSecret = 5,     ///< the other end has not the job's secret
  kNotNow = 6,     ///< refuse(): authenticated, but this connection is one too many
  kClosed = 7,     ///< the stream ended in the middle
  kLate = 8,       ///< the user's time limit
  kUnwanted = 9,   ///< refuse(): authenticated, but there will be no connection
  kEnded = 10,     ///< refuse(): authenticated, but the acceptor is ending, as it should
};

class Handshake {
 public:
  /// The end that has connected, and expects to reach node `peer`.
  static Handshake initiate(const Identity& self, std::int32_t peer);
  /// The end that has been connected to.
  static Handshake answer(const Identity& self);
  /// The same where each peer shares another secret with this end: comes to state kNamed. self.secret is not used.
  static Handshake answer_each(const Identity& self);

  enum class State : std::uint8_t {
    kRunning,   ///< take() and to_send() as bytes come and go
    kNamed,     ///< of answer_each(): peer() is a mere claim; call use_secret()
    kClaimed,   ///< acceptor only: peer() is authenticated; call accept() or refuse()
    kAccepted,  ///< over, once to_send() is empty; the stream now belongs to the user
    kRefused,   ///< over, once to_send() is empty; refusal() and message() say why
  };
  State state() const noexcept { return state_; }
  /// Nothing is left to send or to take: either accepted or refused.
  bool finished() const noexcept { return state_ >= State::kAccepted && to_send().empty(); }

  /// How many more bytes of the stream belong to the handshake for certain; 0: read nothing now.
  std::size_t wanted() const noexcept;
  /// Takes at most wanted() bytes; returns how many.
  std::size_t take(std::span<const std::byte> bytes) noexcept;

  std::span<const std::byte> to_send() const noexcept {
    return {out_.data() + out_begin_, out_end_ - out_begin_};
  }
  void sent(std::size_t bytes) noexcept { out_begin_ += bytes; }

  /// The secret that this end shares with peer(), in state kNamed.
  void use_secret(const Secret& secret) noexcept;
  /// The decision on an authenticated peer, in state kClaimed; refuse() in state kNamed too.
  void accept() noexcept;
  void refuse(std::string_view sentence, Refusal why = Refusal::kNotNow) noexcept;
  /// The user gives up, kClosed or kLate, in any state; nothing more is sent.
  void abandon(Refusal why, std::string_view sentence) noexcept;

  /// Who is at the other end. Acceptor: a mere claim before kClaimed. Control characters are gone from
  /// peer_host().
  std::int32_t peer() const noexcept { return peer_; }
  const char* peer_host() const noexcept { return peer_host_; }
  Refusal refusal() const noexcept { return refusal_; }
  /// True if it is the other end that has refused.
  bool refused_by_peer() const noexcept { return refused_by_peer_; }
  /// A sentence without a full stop.
  std::string message() const;

 private:
  static constexpr std::size_t kHelloBytes = 160;
  static constexpr std::size_t kAnswerBytes = 160;
  enum class Expect : std::uint8_t { kHello, kAnswer, kNothing };

  Handshake(const Identity& self, bool initiator) noexcept;
  void say_hello(std::int32_t to) noexcept;
  void say(Refusal why, std::string_view sentence) noexcept;
  void on_hello() noexcept;
  void on_answer() noexcept;
  bool preamble_fits() noexcept;
  void conclude(Refusal why, bool by_peer, std::string_view sentence = {}) noexcept;
  std::size_t incoming_size() const noexcept {
    return expect_ == Expect::kHello ? kHelloBytes : kAnswerBytes;
  }
  using Statement = std::array<std::byte, 1 + 2 * kHelloBytes>;
  Statement statement(bool initiator) const noexcept;

  void answer_hello(Refusal why) noexcept;

  bool initiator_;
  bool secret_comes_later_ = false;
  State state_ = State::kRunning;
  Expect expect_ = Expect::kHello;
  bool refused_by_peer_ = false;
  Refusal refusal_ = Refusal::kNone;
  Role role_;
  std::int32_t node_;
  std::int32_t peer_ = -2;
  std::uint64_t job_;
  Secret secret_;
  char version_[40] = {};
  char host_[56] = {};
  char peer_host_[56] = {};
  char peer_version_[40] = {};
  char sentence_[120] = {};
  std::array<std::byte, kHelloBytes> own_hello_{};
  std::array<std::byte, kHelloBytes> peer_hello_{};
  std::array<std::byte, kHelloBytes> in_{};
  std::size_t in_filled_ = 0;
  std::array<std::byte, kHelloBytes + 2 * kAnswerBytes> out_{};  // all that an end ever sends
  std::size_t out_begin_ = 0, out_end_ = 0;
};

}  // namespace tmpi::net
