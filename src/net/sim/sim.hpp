// Sim: node processes of one machine with a modelled wire between them. docs/design/network.md, "sim".
//
// A sender copies header and payload into its ring at the receiver (ring.hpp), in pieces of up to kPiece
// bytes, each with the time at which it reaches the receiver's interface; the receiver looks at a piece only
// when it is due (arrivals.hpp). get() waits until the model says that the bytes have come and then reads
// them from the other process. So nobody needs a CPU between posting and delivery, except for the copies.
//
// poll() never spins for the wire; arm() asks for sleep until shortly before the next event, and to be polled
// without sleep when that is nearer than a wake-up takes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "net/receive_pools.hpp"
#include "net/sim/arrivals.hpp"
#include "net/sim/model.hpp"
#include "net/sim/segment.hpp"
#include "net/transport.hpp"

namespace tmpi::net::sim {

class Sim final : public Transport, private Reconnection {
 public:
  static Result<std::unique_ptr<Transport>> make(std::string_view settings, const Options& options,
                                                 Sink& sink);
  ~Sim() override;

  const Limits& limits() const noexcept override { return limits_; }
  std::string describe() const override;
  const std::string& address() const noexcept override { return address_; }
  Result<void> set_peers(std::vector<net::Peer> peers) override;
  Post send(int peer, std::uint8_t id, std::span<const std::byte> header, std::span<const iovec> payload,
            Completion* completion) noexcept override;
  Result<RemoteKey> expose(int peer, const void* buffer, std::size_t bytes) override;
  void conceal(const RemoteKey& key) noexcept override;
  Post get(int peer, const RemoteKey& key, std::uint64_t remote, void* buffer, std::size_t bytes,
           Completion* completion) noexcept override;
  bool poll() noexcept override;
  Arming arm(bool patient) noexcept override;
  bool idle() const noexcept override;
  bool close(double seconds) noexcept override;
  Traffic traffic() const noexcept override { return traffic_; }
  Reconnection* reconnection() noexcept override { return this; }
  ReceiveBuffers receive_buffers() const noexcept override {
    return {pools_.bytes(), pools_.most_bytes(), pools_.pools()};
  }

 private:
  // A message of which only a part has found room in the ring. At most one per peer: what comes after it has
  // to wait for it anyway.
  struct Rest {
    bool active = false;
    std::vector<iovec> payload;
    std::size_t part = 0, offset = 0;  // the next byte
    std::uint64_t left = 0, payload_bytes = 0;
    std::uint8_t id = 0;
    Departure departure;
    Completion* completion = nullptr;
  };

  // The message that is arriving from a peer.
  struct Incoming {
    Landing landing;
    ReceivePools::Pool* pool = nullptr;  // where it lies until it is whole
    std::byte* buffer = nullptr;         // header and payload; null: it goes where it belongs at once
    std::uint32_t header = 0;            // bytes
    std::uint64_t payload = 0;
    std::uint64_t received = 0;
    Nanoseconds started = 0;  // at the interface
  };

  struct Peer {
    std::string address, host;
    PeerSegment segment;
    RingWriter out;
    RingReader in;
    Jitter jitter;
    Nanoseconds last_arrival = 0;  // of what we have sent there: random delays change no order
    Rest rest;
    Incoming incoming;
    // Which of the two connections is used, and whether the next one is being changed to.
    ReceivePools::Share shares[2];    // receive buffers here
    std::size_t eager[2] = {0, 0};    // payloads of up to this size take one, at either end
    std::uint8_t connection = 0;      // the present connection's
    std::uint8_t out_connection = 0;  // by which is sent
    bool next = false;                // there is another one, which becomes the present one
    bool receives_by_next = false;    // and what comes by it is delivered
    std::uint64_t taken = 0;          // messages that have been taken out of a receive buffer
    bool listening = false;           // its ring may have something
    bool refused = false;             // something posted has found no room
    bool ended = false;  // its process has ended, or cannot be reached: lost when its ring is empty
    bool lost = false;   // nothing more is posted or delivered
    std::string why;     // it has ended, or is lost
  };

  // A read of another node's memory. Its bytes come in piece by piece.
  struct Get {
    Completion* completion = nullptr;  // null: the slot is free
    RemoteKey key;
    std::uint64_t remote = 0;
    std::byte* buffer = nullptr;
    std::uint64_t bytes = 0, done = 0;
    Nanoseconds arrives = 0;  // the first byte
    Nanoseconds started = 0;
    int peer = 0;
  };

  struct Departed {
    Nanoseconds time = 0;
    Completion* completion = nullptr;
  };

  Sim(const Model& model, const Options& options, Sink& sink, Segment segment);
  Result<void> prepare(pid_t ancestor);

  // sim.cpp
  Nanoseconds next_event(bool patient) noexcept;
  Nanoseconds next_departure(bool patient) const noexcept;
  Nanoseconds next_small_arrival() noexcept;
  void expect_event(Nanoseconds time) noexcept;

  // sim_peers.cpp
  void meet(int node) noexcept;
  Peer* contact(int node) noexcept;
  void listen(int node) noexcept;
  bool settle(int node) noexcept;
  void lose(int node, std::string why) noexcept;
  bool report_lost() noexcept;
  void drop_gets(int node) noexcept;
  void drop_rest(int node) noexcept;
  void watch_processes() noexcept;
  void end_contacts(Life life) noexcept;

  // sim_send.cpp
  Nanoseconds write_piece(Peer& peer, Record& record, Departure& departure, Nanoseconds ready) noexcept;
  Nanoseconds push_rest(int node, Peer& peer, Nanoseconds ready) noexcept;
  bool push_rests() noexcept;
  bool complete_departed() noexcept;
  Post refuse(Peer& peer) noexcept;
  Post depart(Nanoseconds time, Completion* completion) noexcept;
  bool departures_full() const noexcept { return departed_tail_ - departed_head_ == departed_.size(); }

  // sim_reconnect.cpp
  bool prepare(int peer, std::size_t eager, Endpoint& mine) noexcept override;
  bool connect(int peer, const Endpoint& theirs) noexcept override;
  void send_by_new(int peer) noexcept override;
  void receive_by_new(int peer) noexcept override;
  void retire_old(int peer) noexcept override;
  void drop_new(int peer) noexcept override;
  /// It has come by the next connection, and messages of the present one may still be before it.
  static bool is_held(const Peer& peer, const Record& record) noexcept {
    return record.kind == Kind::kFirst && record.connection != peer.connection && peer.next &&
           !peer.receives_by_next;
  }
  // Whether a message takes a receive buffer of a connection for messages of so many bytes.
  bool comes_unasked(std::uint8_t id, std::uint64_t bytes, std::size_t eager) const noexcept {
    return id != awaited_ && bytes <= eager;
  }
  bool take_buffer(Peer& peer, const Record& record, const std::byte* header) noexcept;
  void deliver_buffered(int node, std::uint8_t id) noexcept;

  // sim_receive.cpp
  bool drain_inbox() noexcept;
  bool deliver_arrivals() noexcept;
  Arrivals::Piece earliest() noexcept;
  void deliver_message(int node) noexcept;
  void deliver_get(int slot) noexcept;
  bool read_memory(const Get& get, std::uint64_t bytes) noexcept;
  Nanoseconds& started(int source) noexcept;

  Model model_;
  int node_ = 0, nodes_ = 1;
  std::size_t eager_ = 0;                // of connections at the start
  std::optional<std::uint8_t> awaited_;  // id of messages that take no receive buffer
  bool adapts_ = false;                  // the number of receive buffers follows what is needed
  Sink& sink_;
  Segment segment_;
  Limits limits_;
  std::string address_;
  std::string no_get_;  // why get() does not work
  std::vector<Peer> peers_;
  ExposedSlots exposed_;
  Fd watch_;  // epoll: the wake-up descriptor and the processes of the nodes we are in contact with

  std::vector<Departed> departed_;  // a ring, by time: buffers that will be free
  std::uint64_t departed_head_ = 0, departed_tail_ = 0;
  std::vector<int> rests_;      // nodes with an active rest
  std::vector<int> listening_;  // nodes whose rings may have something
  Arrivals arrivals_;
  std::vector<Get> gets_;
  std::vector<int> active_gets_, free_gets_;
  std::vector<int> failed_;  // nodes to be reported as lost

  Nanoseconds sleeps_until_ = 0;  // until when the last caller of arm() may sleep; 0: it is awake
  std::uint64_t watched_ = 0;     // ticks at which processes were last looked at; 0: look
  std::uint64_t watch_ticks_ = 0;
  bool closed_ = false;
  Traffic traffic_;
  ReceivePools pools_;
  std::uint64_t period_ = 0, period_ticks_ = 0;  // of the pools
};

}  // namespace tmpi::net::sim
