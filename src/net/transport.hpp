// Transport: carries active messages between the node processes of a job. Small on purpose: what MPI means by
// a message (matching, protocols, completion of requests) is the business of mpi/remote/, which sees every
// transport through this interface alone. docs/design/network.md.
//
// Nodes are numbered 0 .. nodes - 1; a peer is another node's number. Messages to one peer arrive in the
// order in which they were posted, whole, once. One thread at a time calls a transport (its user holds a
// lock); nothing blocks, suspends a fiber, or throws.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/arming.hpp"
#include "base/result.hpp"
#include "net/reconnection.hpp"
#include "net/secret.hpp"

namespace tmpi::net {

/// What became of something posted.
enum class Post : std::uint8_t {
  kDone,        ///< the buffers are free again; the completion will not be called
  kInProgress,  ///< the buffers are needed until the completion is called
  kNoResource,  ///< nothing has happened: too much is under way to this peer. Try again after poll() has made
                ///< progress
};

/// Whom to tell that the buffers of something that was kInProgress are free. Lies in something bigger, which
/// may be gone after the call. Called by poll() (or close()) only.
struct Completion {
  void (*done)(Completion& self) noexcept = nullptr;
};

/// Where the payload of an arriving message goes.
struct Landing {
  void* buffer = nullptr;
  std::size_t capacity =
      0;  ///< the first bytes of the payload, at most so many, are written to buffer; the rest is dropped
  void* token = nullptr;  ///< given to Sink::landed
};

/// Who receives: called by poll() only.
class Sink {
 public:
  /// A message of `payload` bytes behind its header (valid during the call) has begun to arrive. Says where
  /// the payload goes; the buffer must stay until landed().
  virtual Landing arriving(int peer, std::uint8_t id, std::span<const std::byte> header,
                           std::size_t payload) noexcept = 0;
  /// All of it is there. Follows every arriving(), empty payloads included; the next message of this peer
  /// comes after.
  virtual void landed(int peer, void* token) noexcept = 0;
  /// The connection to the peer is gone, not by close(): the peer has died, or the network has failed. Once
  /// per peer. Nothing more comes from there, what is posted there is dropped. `why`: a sentence without a
  /// full stop.
  virtual void lost(int peer, const std::string& why) noexcept = 0;

 protected:
  ~Sink() = default;
};

struct Limits {
  std::size_t most_header = 0;  ///< bytes of header of one message, at least 128
  std::size_t most_buffered =
      0;  ///< payloads up to this size are never kInProgress: what cannot go at once is copied
  std::size_t eager = 0;    ///< up to this size a message had better travel with its data than ask first
                            ///< (default of --eager-limit)
  std::size_t segment = 0;  ///< payloads much larger than this had better be posted in pieces, one after the
                            ///< other, so that the messages to a peer share the way there; 0: no need
  std::size_t transfer_depth =
      0;  ///< bytes of large messages that had better be under way to a peer at a time, if somebody posts
          ///< the next ones promptly: few enough that a small message does not wait long behind them,
          ///< enough that the way there is never idle; 0: unknown
  bool can_get = false;      ///< get() works
  bool prefers_get = false;  ///< and costs no CPU at either end (default of --rndv)
};

/// Names memory to other nodes' get().
struct RemoteKey {
  std::uint64_t word[2] = {0, 0};
};

using tmpi::Arming;

/// One of the other nodes, as the launcher has learned it.
struct Peer {
  std::string address;  ///< its Transport::address()
  std::string host;     ///< for messages
};

/// What all transports are told at their making.
struct Options {
  std::string spec;  ///< --net: the transport's name and, after a colon, its settings: "tcp",
                     ///< "tcp:interface=eth0", "sim:fdr-ib,dilation=16"
  int node = 0;
  int nodes = 1;
  std::uint64_t job = 0;     ///< the same in all node processes of a job, different between jobs of a machine
  Secret secret;             ///< authenticates connections: without it nobody takes part
  bool same_machine = true;  ///< all node processes are on this machine
  pid_t ancestor = 0;        ///< a process whose descendants all of them are; 0: not known
  std::size_t eager =
      0;  ///< payloads of up to this size will come unasked (--eager-limit): what a transport that
          ///< posts receive buffers makes them for; 0: limits().eager
  std::optional<std::uint8_t>
      awaited;          ///< id of messages that are sent only when the peer has asked for them, whatever
                        ///< their size: what they bring has its place
  bool adapts = false;  ///< the number of receive buffers may follow what is needed (--eager-limit dynamic)
};

class Transport {
 public:
  virtual ~Transport() = default;

  virtual const Limits& limits() const noexcept = 0;
  /// One line for -v: which device, interface and address it uses.
  virtual std::string describe() const = 0;
  /// The NUMA node that its device is attached to, -1: unknown, or none.
  virtual int numa_node() const { return -1; }

  /// Where the others reach this node: printable, at most 1 KiB; exchanged by the launcher (wire-up).
  virtual const std::string& address() const noexcept = 0;
  /// The addresses of all nodes, by number, this one's included. Once, before the first post; connects
  /// nothing yet.
  virtual Result<void> set_peers(std::vector<Peer> peers) = 0;

  /// Sends a message: header and then payload, gathered from `payload`. The header is copied. Connects when
  /// first needed. `completion` is used if the answer is kInProgress, which it never is for payloads up to
  /// limits().most_buffered.
  virtual Post send(int peer, std::uint8_t id, std::span<const std::byte> header,
                    std::span<const iovec> payload, Completion* completion) noexcept = 0;

  /// Opens memory to get() of the peer, as soon as it has a message that is sent afterwards, and closes it. Only
  /// if limits().can_get.
  virtual Result<RemoteKey> expose(int peer, const void* buffer, std::size_t bytes) = 0;
  virtual void conceal(const RemoteKey& key) noexcept = 0;
  /// Copies `bytes` bytes from the peer's memory at `remote`, inside what it has exposed as `key`, to
  /// `buffer`, without help of the peer's CPUs. Only if limits().can_get. kDone is possible.
  virtual Post get(int peer, const RemoteKey& key, std::uint64_t remote, void* buffer, std::size_t bytes,
                   Completion* completion) noexcept = 0;

  /// Makes progress: receives (calls the sink), sends on, completes. True if anything happened. The sink and
  /// completions may post meanwhile.
  virtual bool poll() noexcept = 0;
  /// Before sleeping: what to watch. Whatever happens after the call shows there. `patient`: the caller takes
  /// a core from somebody while it is awake, nobody waits for what it does, and it would rather be woken a little late
  /// than wait awake for what comes soon, or wake up twice.
  virtual Arming arm(bool patient = false) noexcept = 0;

  /// True when nothing that was posted is still on its way out of this process.
  virtual bool idle() const noexcept = 0;
  /// Sends what has been posted, at most for `seconds`, and closes all connections; peers are not told that
  /// this node is lost. False if something could not be sent. Nothing else may be called afterwards.
  virtual bool close(double seconds) noexcept = 0;

  /// Other connections for larger (or smaller) messages that come unasked. Null: none are needed.
  virtual Reconnection* reconnection() noexcept { return nullptr; }

  /// For profiles and experiments: memory that is posted for what arrives unasked.
  struct ReceiveBuffers {
    std::uint64_t bytes = 0;       ///< now
    std::uint64_t most_bytes = 0;  ///< at any time since the start
    int pools = 0;                 ///< sizes of buffers there are now
  };
  virtual ReceiveBuffers receive_buffers() const noexcept { return {}; }

  /// For profiles: payload and header bytes, messages, since the start.
  struct Traffic {
    std::uint64_t messages_sent = 0, bytes_sent = 0, messages_received = 0, bytes_received = 0;
  };
  virtual Traffic traffic() const noexcept = 0;
};

/// Makes the transport that options.spec names. Failure sentences: an unknown name or setting (says what
/// there is), no usable device.
Result<std::unique_ptr<Transport>> create_transport(const Options& options, Sink& sink);

/// Does what the transport that a --net value names, if it names one, wants done while the process has one thread. May be
/// left out.
void prepare_process(std::string_view spec);

/// Checks a --net value without making anything (tmpirun, before it starts node processes).
Result<void> check_spec(std::string_view spec);

/// One line per transport and setting, for `--net help`.
std::string describe_transports();

}  // namespace tmpi::net
