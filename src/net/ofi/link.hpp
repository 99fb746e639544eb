// Link: everything about one peer. Frames leave by libfabric's messages, in order; large payloads are offered, and read by
// the receiver from where they lie. docs/design/network.md, "ofi".
//
//     A                                  B
//     Connect ---------- tcp ---------->          each sends frames when it has the other's Connect: whoever is in
//             <--------- tcp ---------- Connect   tcp's handshake has proved the job's secret
//     frames  <------- libfabric ------> frames
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "net/ofi/hub.hpp"

namespace tmpi::net::ofi {

/// Bytes that are read from a peer's memory.
struct Read : Work {
  Link* link;
  std::byte* to = nullptr;
  std::uint64_t remote = 0, key = 0;
  std::size_t left = 0;   ///< those that have not come
  std::size_t asked = 0;  ///< of these, those that libfabric has been told to read; 0: it reads nothing
  Registered registered;  ///< of `to`, if that is needed
  Completion* completion = nullptr;  ///< of a get()
  explicit Read(Link& of) : Work(Kind::kRead), link(&of) {}
};

class Link {
 public:
  static constexpr std::size_t kMostCopied = 1 << 20;
  static constexpr std::size_t kMostReferences = 64;
  static constexpr std::size_t kMostOffers = 64;
  static constexpr std::size_t kMostGets = 64;
  static constexpr std::size_t kSpareReceives = 4;

  Link(Hub& hub, int peer, std::string host, std::vector<std::byte> name);

  int peer() const noexcept { return peer_; }
  std::uint64_t token() const noexcept { return own_token_; }

  Post send(std::uint8_t id, std::span<const std::byte> header, std::span<const iovec> payload,
            Completion* completion) noexcept;
  Post get(std::uint64_t key, std::uint64_t remote, void* buffer, std::size_t bytes,
           Completion* completion) noexcept;

  // What has come, by poll().
  void on_connect(const Connect& theirs) noexcept;
  void on_heard() noexcept { heard_ = true; }
  void on_frame(Frame* frame, std::size_t bytes) noexcept;
  /// `error`: empty, or why it has failed.
  void on_sent(const std::string& error) noexcept;
  void on_read(Read& read, const std::string& error) noexcept;

  /// The connection has failed; `why` is told a moment later, since tcp may know more.
  void fail(const std::string& why) noexcept;
  void on_side_lost(const std::string& why) noexcept;
  void on_side_gone() noexcept;
  /// Ends the link if its time has come. False: not yet.
  bool end_if_due(std::uint64_t now) noexcept;
  /// Reads that were under way when the link ended, and will not be completed any more. False: not yet.
  bool end_orphans(std::uint64_t now) noexcept;

  /// Sends what waits, as far as it can go. True if anything went.
  bool flush() noexcept;
  bool waits() const noexcept;
  void settle() noexcept;
  /// Tells libfabric to read on. False: it has no room.
  bool read_on(Read& read) noexcept;

  bool connecting() const noexcept { return state_ == State::kConnecting; }
  bool up() const noexcept { return state_ == State::kUp; }
  bool over() const noexcept { return state_ >= State::kGone; }
  bool idle() const noexcept;
  void begin_close() noexcept;
  bool closed() const noexcept;
  void end_close() noexcept;

  bool listed_waiting = false;
  bool listed_owing = false;

 private:
  enum class State : std::uint8_t { kNone, kConnecting, kUp, kGone, kLost };
  enum class Ending : std::uint8_t { kNone, kLoss, kGone };

  struct Offered {
    Registered registered;
    std::unique_ptr<std::byte[]> packed;  ///< a copy of a payload that lies in pieces
    Completion* completion = nullptr;     ///< null: nobody waits
  };
  struct Waiting {
    std::vector<std::byte> frame;
    std::unique_ptr<Offered> offer;  ///< null: a copy
  };
  struct Held {
    Frame* frame;
    std::size_t bytes;
  };

  std::string name() const;
  void connect() noexcept;
  Post send_whole(std::uint8_t id, std::span<const std::byte> header, std::span<const iovec> payload,
                  std::size_t bytes) noexcept;
  Post send_offer(std::uint8_t id, std::span<const std::byte> header, std::span<const iovec> payload,
                  std::size_t bytes, Completion* completion) noexcept;
  bool launch(Frame* frame, std::size_t bytes) noexcept;
  bool launch_bare(FrameKind kind) noexcept;
  bool can_send() const noexcept { return state_ == State::kUp && ending_ == Ending::kNone; }
  void list_waiting() noexcept;
  void list_owing() noexcept;
  bool take_notices(const FrameHeader& header) noexcept;
  void deliver(Frame* frame, std::size_t bytes) noexcept;
  void deliver_held() noexcept;
  bool begin_read(const Offer& offer, const Landing& landing, std::size_t payload) noexcept;
  bool start(Read& read) noexcept;
  void end_landing() noexcept;
  void nonsense() noexcept;
  void end(Ending how, const std::string& why, std::uint64_t patience) noexcept;
  void drop() noexcept;

  Hub& hub_;
  const int peer_;
  const std::string host_;
  const std::vector<std::byte> name_bytes_;  // the peer's endpoint
  State state_ = State::kNone;
  Ending ending_ = Ending::kNone;
  std::string trouble_;
  std::uint64_t end_at_ = 0, orphans_until_ = 0;
  bool closing_ = false, said_goodbye_ = false, heard_ = false;

  fi_addr_t address_ = FI_ADDR_UNSPEC;
  std::uint64_t own_token_ = 0, peer_token_ = 0;
  std::uint32_t sent_ = 0, received_ = 0;         // frames
  std::uint32_t credits_ = 0, most_credits_ = 0;  // frames that may be sent
  std::uint32_t owed_ = 0, reads_owed_ = 0;       // frames and offers that have been dealt with
  std::size_t under_way_ = 0;                     // frames that have not been completed

  std::deque<Waiting> queue_;
  std::size_t copied_ = 0, references_ = 0;
  std::deque<std::unique_ptr<Offered>> offers_;  // in the order in which they are read

  Read incoming_{*this};
  bool reading_ = false;
  void* token_ = nullptr;          // of the landing that is being read to
  std::size_t landing_bytes_ = 0;  // header and payload, for traffic
  std::deque<Held> held_;          // what has come behind it
  std::vector<std::unique_ptr<Read>> gets_;
};

}  // namespace tmpi::net::ofi
