// A node of the conformance suite: a transport, and a sink that writes down what comes. Buffers are
// overwritten as soon as the transport has given them back, so that one that is used too long is noticed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "net/conformance.hpp"
#include "net/transport.hpp"

namespace tmpi::net::conformance {

using Bytes = std::vector<std::byte>;

/// `size` bytes that depend on `seed`.
Bytes pattern(std::uint64_t seed, std::size_t size);
/// Vectors of std::byte compare a byte at a time, and each byte is looked up where a sanitizer watches.
bool equal(const Bytes& one, const Bytes& other);

struct Message {
  int peer = 0;
  std::uint8_t id = 0;
  Bytes header;
  Bytes payload;
  std::size_t announced = 0;  ///< bytes of payload that arriving() was told of
  bool landed = false;
};

class Node final : private Sink {
 public:
  Node(const Subject& subject, int number, int nodes, std::uint64_t job, const Secret& secret);
  ~Node();

  int number() const { return number_; }
  int nodes() const { return nodes_; }
  const Subject& subject() const { return subject_; }
  Transport& net() { return *net_; }
  /// The transport ends without close(): as if the process had died.
  void destroy() { net_.reset(); }
  bool alive() const { return net_ != nullptr; }

  /// Sends, polling while there is no resource.
  void send(int to, std::uint8_t id, Bytes header, Bytes payload);
  /// One attempt. The payload stays with the caller if there is no resource.
  Post try_send(int to, std::uint8_t id, const Bytes& header, Bytes&& payload);
  /// The payload in pieces that lie apart.
  void send_pieces(int to, std::uint8_t id, const Bytes& header, std::vector<Bytes> pieces);
  std::size_t in_progress() const { return posted_.size(); }

  /// Polls until the condition holds; a doctest failure that names `what` if it takes too long.
  bool until(std::string_view what, const std::function<bool()>& condition);
  /// The same, asleep whenever arm() allows it. `wake_ups`: how often it woke up.
  bool asleep_until(std::string_view what, const std::function<bool()>& condition, int* wake_ups = nullptr);

  std::vector<std::unique_ptr<Message>> received;  ///< complete ones, in order of arrival
  std::vector<Message*> of(int peer) const;
  std::vector<std::pair<int, std::string>> lost_peers;
  /// Bytes that a message may have; the rest is to be dropped.
  std::function<std::size_t(const Message&)> capacity;
  /// Called within landed().
  std::function<void(const Message&)> on_landed;
  /// Called by the completion of a message that was kInProgress.
  std::function<void()> on_complete;

 private:
  struct Posted;
  Post post(int to, std::uint8_t id, const Bytes& header, std::unique_ptr<Posted>& posted);

  Landing arriving(int peer, std::uint8_t id, std::span<const std::byte> header,
                   std::size_t payload) noexcept override;
  void landed(int peer, void* token) noexcept override;
  void lost(int peer, const std::string& why) noexcept override;

  const Subject& subject_;
  int number_;
  int nodes_;
  std::unique_ptr<Transport> net_;
  std::vector<std::unique_ptr<Message>> arriving_;  // by peer
  std::vector<std::unique_ptr<Posted>> posted_;     // in progress
};

/// Runs `body` on `nodes` nodes, each a thread. A node that has finished polls until all have; then all
/// close.
void run_nodes(const Subject& subject, int nodes, const std::function<void(Node&)>& body);

/// The same with processes; `body` returns the process's exit code, the result is waitpid()'s statuses.
std::vector<int> fork_nodes(const Subject& subject, int nodes, const std::function<int(Node&)>& body);

double seconds_now();

/// Polls all nodes, on the calling thread, until `condition` holds; false if it does not for `seconds`.
bool poll_until(const std::vector<std::unique_ptr<Node>>& nodes, const std::function<bool()>& condition,
                double seconds);

}  // namespace tmpi::net::conformance
