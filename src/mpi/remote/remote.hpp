// Remote: messages between ranks of different node processes. The one protocol layer above every transport:
// it packs what MPI means by a message into active messages (EAGER, RTS, CTS, DATA, FIN, ...), matches what
// arrives with the ranks' receives, and moves large messages by one of three rendezvous protocols.
// docs/design/network.md, section Protocols.
//
// Progress is made by poll(), which workers call at scheduling points and while they idle: the protocols are
// driven by the CPU, as in the paper. One worker at a time is inside; a worker that finds another one there
// goes on. Completions (requests, waiters) are delivered from there.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "mpi/p2p/transfer.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/remote/protocol_counters.hpp"
#include "mpi/remote/rendezvous.hpp"
#include "mpi/request/request.hpp"
#include "net/junction.hpp"
#include "net/transport.hpp"

namespace tmpi::mpi::remote {

struct Settings {
  MPI_Count eager_limit = -1;  ///< bytes; -1: what suits the transport
  double release_seconds =
      0;  ///< --eager-limit dynamic: limits of pairs change, and go back when a larger one
          ///< has not been used for so long; 0: all stay as they are
  std::optional<Rendezvous> rendezvous;  ///< none: what suits the transport
  bool beside = false;  ///< somebody beside the ranks makes progress while all of them compute
};

// ---- For who starts the node process (launch/), in this order, before any rank runs.

/// Makes the transport. Failure sentences: what create_transport says; --rndv read on a transport that cannot.
Result<void> begin(const net::Options& transport, const Settings& settings);
/// This node's address, for the others; one line about the transport for -v.
const std::string& address();
std::string describe();
/// NUMA node of the network's device, -1 if that is not known.
int numa_node();
/// Who makes progress beside the ranks spins, and need not be woken for a piece more. Before any message.
void progress_spins() noexcept;
/// The addresses of all nodes by number.
Result<void> connect(std::vector<net::Peer> peers);
/// Who is told, once, that a node is gone before its time; `why` is a sentence. On the thread that polls.
void on_lost(void (*lost)(int node, const std::string& why) noexcept);

/// The job may be connected with other jobs from now on. Before the first message.
Result<void> take_other_jobs();
/// begin() and that, for a job of a single node process, which has no transport of its own, address or peers. Of the
/// settings the eager limit counts.
Result<void> begin_for_other_jobs(const Settings& settings);
bool takes_other_jobs() noexcept;
// Ways to their node processes, as net::Junction has them. Any thread.
Result<std::string> prepare_way(const net::Junction::Way& way, const net::Options& options);
Result<void> join_way(int first_peer, std::vector<net::Peer> peers);
void drain_way(int first_peer) noexcept;
void part_way(int first_peer) noexcept;

/// Hooks for the scheduler (sched::EventSource).
bool poll() noexcept;
net::Arming arm(bool patient) noexcept;

/// What waits for other nodes: transfers under way, and posted receives that a message from elsewhere may
/// match. While it is above zero workers look at the network at every switch (not twice in two microseconds),
/// which is what makes rendezvous progress while other ranks of the worker compute between their MPI calls;
/// else every 20 microseconds (sched::EventSource::expected).
const std::atomic<int>& expected() noexcept;

/// When all local ranks have finished: sends what is left, says goodbye. Blocks the calling thread, at most
/// `seconds`.
bool end(double seconds) noexcept;

/// True between begin() and end(): the job has several node processes, or may be connected with other jobs.
bool active() noexcept;

/// Active messages of the protocol layer that this node has handed to the transport, and that have landed
/// here, since the start: when all nodes are asleep and the sums over the nodes agree, twice, nothing is on
/// its way (deadlock report).
struct Balance {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
};
Balance balance() noexcept;

/// Bytes of the largest message that is sent without asking first; 0: there is one node process.
MPI_Count eager_limit() noexcept;

/// For profiles and tools. Any thread.
ProtocolCounters counters() noexcept;

}  // namespace tmpi::mpi::remote
