// Receives: messages from ranks of other nodes, from their first byte until they are in the receive's buffer.
// Everything that arrives is checked before it is believed. Used under the engine's lock, except
// release_quietly().
// docs/design/network.md, section Protocols.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "mpi/remote/arrivals.hpp"
#include "mpi/remote/core.hpp"
#include "mpi/remote/credit.hpp"
#include "mpi/remote/table.hpp"
#include "mpi/remote/transfer_queue.hpp"
#include "mpi/request/request.hpp"

namespace tmpi::mpi::remote {

class Receives {
 public:
  explicit Receives(Core& core) : core_(core) {}
  void use(int own_nodes, int nodes);

  // What arrives. A message with data says where the data goes; `landed` when it is there.
  net::Landing on_eager(int peer, const Eager& eager, std::size_t payload);
  net::Landing on_data(int peer, const Data& data, std::size_t payload);
  void landed(int peer);
  /// Begins the next reads; as Sends::serve_all().
  void serve_all();
  bool has_to_serve() const noexcept { return queues_.has_to_serve(); }
  void on_rts(int peer, const Rts& rts);
  void on_cancel(int peer, const Cancel& cancel);

  /// Begins to fetch the message of a rendezvous for a receive.
  void fetch(Request& receive, const MatchKey& key, MPI_Count bytes, const Origin& origin);
  /// A message has left the matcher and its memory: FIN if its sender waits for that, credit.
  void release(const Origin& origin, MPI_Count bytes);
  /// The same without the lock, for messages whose sender does not wait: false if acknowledge() must be called.
  bool release_quietly(const Origin& origin, MPI_Count bytes, std::uint64_t& due) noexcept;
  /// What is left to do then; `due` as release_quietly() has said.
  void acknowledge(const Origin& origin, std::uint64_t due);

  std::size_t size() const noexcept { return table_.size(); }

 private:
  static constexpr std::size_t kGets = 2;  // reads under way at a time, where the data is unpacked

  struct Inbound;
  struct Get : net::Completion {
    Inbound* owner = nullptr;
    MPI_Count offset = 0, bytes = 0;
    std::unique_ptr<std::byte[]> packed;
    bool busy = false;
  };
  struct Inbound : InTransferQueue<Inbound> {  // a large message on its way
    std::uint64_t id = 0;
    Receives* receives = nullptr;
    Request* request = nullptr;
    int peer = 0;
    std::uint64_t sender = 0;
    std::byte* run = nullptr;  // the receive's buffer, if it is one piece
    MPI_Count wanted = 0;
    MPI_Count begun = 0;  // of reads
    MPI_Count arrived = 0;
    std::unique_ptr<std::byte[]> packed;  // a piece that is to be unpacked
    std::uint64_t address = 0;
    std::uint64_t started = 0;  // ticks, if limits are dynamic or switches are metered
    net::RemoteKey key;
    std::array<Get, kGets> gets;

    void reset() noexcept;
  };

  /// What is landing from a peer: one message at a time.
  struct Landing {
    enum class What : std::uint8_t { kNothing, kPosted, kUnexpected, kPiece } what = What::kNothing;
    Request* receive = nullptr;  // kPosted
    Message* cell = nullptr;     // kUnexpected; kPosted: the packed data of a receive that is not one run
    Envelope envelope;
    std::uint64_t sender = 0;
    std::uint64_t inbound = 0;  // kPiece
    MPI_Count bytes = 0;
  };

  Rank* local_rank(int peer, const Envelope& envelope);
  /// What is to be returned to the sender now that the message has left its memory.
  std::uint64_t owe(const Origin& origin, MPI_Count bytes) noexcept;
  net::Landing land_posted(Landing& landing, Request& receive);
  net::Landing land_unexpected(int peer, Landing& landing);
  void posted_landed(int peer, Landing& landing);
  void unexpected_landed(int peer, Landing& landing);
  void piece_landed(int peer, Landing& landing);
  void matched(int peer, const Envelope& envelope, const Request& receive);
  TransferQueue<Inbound>& queue_from(int peer) noexcept { return queues_.of(peer); }
  void serve_soon(int peer);
  void post_next(Inbound& in, TransferQueue<Inbound>& queue);
  void go_on(Inbound& in, TransferQueue<Inbound>& queue);
  void post_get(Inbound& in, TransferQueue<Inbound>& queue);
  void take_in(Inbound& in, Get& get);
  static void got(net::Completion& completion) noexcept;
  void finish(Inbound& in);

  Core& core_;
  Owed owed_;
  std::vector<Landing> landing_;  // by peer
  Table<Inbound> table_;
  TransferQueues<Inbound> queues_;  // of reads, by peer
};

}  // namespace tmpi::mpi::remote
