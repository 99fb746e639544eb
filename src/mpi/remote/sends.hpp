// Sends: messages to ranks of other nodes, until their buffers are free and, where that is asked, they are
// matched. Used under the engine's lock. docs/design/network.md, section Protocols.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "mpi/p2p/transfer.hpp"
#include "mpi/remote/announcements.hpp"
#include "mpi/remote/core.hpp"
#include "mpi/remote/credit.hpp"
#include "mpi/remote/table.hpp"
#include "mpi/remote/transfer_queue.hpp"
#include "mpi/request/request.hpp"

namespace tmpi::mpi::remote {

/// The way of a message: world ranks, and the node of the second.
struct Route {
  int from = 0;
  int dest = 0;
  int peer = 0;
};

/// Bytes that may lie unreceived at one rank, per sending node.
std::uint64_t credit_limit(MPI_Count eager_limit) noexcept;
/// The same for ranks of another job, whose --eager-limit may be another.
inline constexpr std::uint64_t kCreditBetweenJobs = std::uint64_t{2} << 20;

class Sends {
 public:
  explicit Sends(Core& core) : core_(core) {}
  void use(int ranks, int nodes);
  /// How data to a peer begins to which nothing is under way (TransferQueue::open_with).
  void open_with(MPI_Count opening) noexcept { queues_.open_with(opening); }

  bool now(const Route& route, const MatchKey& key, const Outgoing& data, SendMode mode);
  void start(Request& request, const Route& route, const MatchKey& key, const Outgoing& data, SendMode mode);
  void cancel(Request& request, int dest, int peer);

  /// Announces a receive to its sender's node, or takes that back.
  void tell(int peer, Kind kind, const Announce& announcement) {
    core_.backlog.post(peer, kind, announcement);
  }

  /// Posts the next pieces of data, after everything that has come has been dealt with: what that has led to, and is no
  /// data, goes first.
  void serve_all();
  bool has_to_serve() const noexcept { return queues_.has_to_serve(); }

  void on_cts(int peer, const Cts& cts);
  void on_fin(int peer, const Transfer& fin);
  void on_credit(int peer, const Credit& credit);
  void on_announce(const Announce& announce);
  void on_retract(const Announce& announce);
  void on_cancel_reply(int peer, const CancelReply& reply);

  /// Sends whose data is moving, and sends that nobody has matched so far.
  std::size_t moving() noexcept;
  std::size_t size() const noexcept { return table_.size(); }

 private:
  struct Outbound;
  bool charge(const Route& route, MPI_Count bytes, MPI_Count eager_limit);
  struct Piece : net::Completion {
    Outbound* owner = nullptr;
    MPI_Count bytes = 0;
    bool busy = false;
    std::unique_ptr<std::byte[]> packed;
  };
  static constexpr std::size_t kPieces = 2;  // posted at a time: one is packed while the other travels

  // What an Outbound still waits for.
  static constexpr unsigned kBuffer = 1;   // the transport needs the data
  static constexpr unsigned kMatched = 2;  // FIN; or CTS and that all data has left
  static constexpr unsigned kReply = 4;    // to the attempt to cancel it

  enum class Protocol : std::uint8_t { kEager, kRendezvous, kCancel };

  struct Outbound : InTransferQueue<Outbound> {
    std::uint64_t id = 0;
    Sends* sends = nullptr;
    Request* request = nullptr;
    int peer = 0;
    unsigned waits = 0;
    Protocol protocol = Protocol::kEager;
    bool segmented = false;
    bool exposed = false;
    net::RemoteKey key;
    const std::byte* run = nullptr;       // the data, if it lies in one piece
    std::unique_ptr<std::byte[]> packed;  // or a packed copy of it
    MPI_Count bytes = 0;
    // After CTS.
    std::uint64_t receiver = 0;
    MPI_Count wanted = 0;
    MPI_Count posted = 0;
    std::uint64_t asked = 0, answered = 0;  // ticks, if limits are dynamic
    std::uint64_t started = 0;              // ticks, if messages are served in order
    std::array<Piece, kPieces> pieces;

    void reset() noexcept;
  };

  std::optional<MPI_Count> take_announcement(const Route& route, const MatchKey& key);
  bool gather(Outbound& out, const Outgoing& data);
  void post_eager(Outbound& out, Envelope envelope);
  void post_rts(Outbound& out, const Envelope& envelope);
  TransferQueue<Outbound>& queue_to(int peer) noexcept { return queues_.of(peer); }
  void serve_soon(int peer);
  void post_next(Outbound& out, TransferQueue<Outbound>& queue);
  void go_on(Outbound& out, TransferQueue<Outbound>& queue);
  void post_piece(Outbound& out, TransferQueue<Outbound>& queue);
  static void piece_sent(net::Completion& completion) noexcept;
  static void eager_sent(net::Completion& completion) noexcept;
  void settle(Outbound& out);
  Outbound* find(int peer, std::uint64_t id, const char* what);

  Core& core_;
  Allowance allowance_;
  Announcements announcements_;
  Table<Outbound> table_;
  TransferQueues<Outbound> queues_;       // by peer
  MPI_Count now_limit_ = 0;               // of messages that now() sends
  std::unique_ptr<std::byte[]> scratch_;  // its
};

}  // namespace tmpi::mpi::remote
