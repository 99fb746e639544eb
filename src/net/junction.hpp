// Junction: the transport of a job that may be connected with other jobs: the job's own transport, if it has several
// node processes, and behind it one connection (tcp over loopback) for each other job. Peers 0 .. own - 1 are the job's own
// node processes; those of other jobs follow, as join() numbers them. A message to a peer that is not joined, or no more,
// vanishes. docs/design/dynamic-processes.md, "Between jobs".
#pragma once

#include <memory>
#include <vector>

#include "base/fd.hpp"
#include "net/transport.hpp"

namespace tmpi::net {

class Junction final : public Transport {
 public:
  /// `own`: null if the job has one node process. Failure: the system has no descriptor left.
  static Result<std::unique_ptr<Junction>> create(std::unique_ptr<Transport> own, int own_nodes, Sink& sink);
  ~Junction() override;

  // Connections with other jobs. Under the lock of the transport's user, as all other calls.

  struct Way {
    int first_peer = 0;   ///< what the first node process of the other job is called here
    int first_there = 0;  ///< and among the nodes of `options`, all of whom are of these two jobs
    int count = 0;        ///< node processes of the other job
  };
  /// Makes the transport: its address is for the other job. `options.node`, `options.nodes`, `options.job` and
  /// `options.secret` are of the two jobs together. Failure: no such transport can be made.
  Result<std::string> prepare(const Way& way, Options options);
  /// The addresses of all nodes of the two jobs. Failure: nonsense.
  Result<void> join(int first_peer, std::vector<Peer> peers);
  /// Takes in what has come from a job that has ended, and sends no more: all of it is with this machine's kernel. No
  /// lost() comes.
  void drain(int first_peer) noexcept;
  /// Nothing is wanted any more. No lost() comes. Who sleeps wakes up: there may be nothing left to wait for.
  void part(int first_peer) noexcept;

  const Limits& limits() const noexcept override { return limits_; }
  std::string describe() const override;
  int numa_node() const override { return own_ != nullptr ? own_->numa_node() : -1; }
  const std::string& address() const noexcept override;
  /// Of the job's own transport.
  Result<void> set_peers(std::vector<Peer> peers) override { return own_->set_peers(std::move(peers)); }
  Post send(int peer, std::uint8_t id, std::span<const std::byte> header, std::span<const iovec> payload,
            Completion* completion) noexcept override;
  Result<RemoteKey> expose(int peer, const void* buffer, std::size_t bytes) override;
  void conceal(const RemoteKey& key) noexcept override { own_->conceal(key); }
  Post get(int peer, const RemoteKey& key, std::uint64_t remote, void* buffer, std::size_t bytes,
           Completion* completion) noexcept override;
  bool poll() noexcept override;
  Arming arm(bool patient) noexcept override;
  bool idle() const noexcept override;
  bool close(double seconds) noexcept override;
  Reconnection* reconnection() noexcept override { return own_ != nullptr ? own_->reconnection() : nullptr; }
  ReceiveBuffers receive_buffers() const noexcept override;
  Traffic traffic() const noexcept override;

 private:
  class Branch;

  Junction(std::unique_ptr<Transport> own, int own_nodes, Sink& sink, Fd epoll, Fd alarm);
  Branch* branch_of(int peer) const noexcept;
  bool watch(int fd) noexcept;

  const std::unique_ptr<Transport> own_;
  const int own_nodes_;
  Sink& sink_;
  const Fd epoll_;  // readable when something that a sleeper watches is
  const Fd alarm_;  // an event counter among it
  bool alarmed_ = false;
  Limits limits_;
  std::vector<std::unique_ptr<Branch>> branches_;
  int watched_ = -1;  // of own_
};

}  // namespace tmpi::net
