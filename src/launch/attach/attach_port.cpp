#include "launch/attach/attach_port.hpp"

#include <fmt/core.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <list>
#include <utility>

#include "launch/attach/attach_socket.hpp"
#include "launch/wire/hello.hpp"
#include "net/handshake_io.hpp"
#include "net/tcp/interfaces.hpp"

namespace tmpi::launch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kHandshakeTime{10};
// For its public key, which comes another way and may be slow; the other end does not try for longer.
constexpr std::chrono::seconds kKeyTime{30};
constexpr std::size_t kMostPending = 512;  // in the middle of a handshake
constexpr int kBacklog = 4096;
constexpr const char* kLoopback = "127.0.0.1";

// A connection whose other end has not proved yet who it is.
struct PendingConnection {
  int fd;
  net::Handshake handshake;
  Clock::time_point came;
  Clock::time_point deadline;
  net::Secret delivery;  // seals the job's key for it
};

int listen_here() {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in loopback{};
  loopback.sin_family = AF_INET;
  loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd >= 0 && bind(fd, reinterpret_cast<const sockaddr*>(&loopback), sizeof(loopback)) == 0 &&
      listen(fd, kBacklog) == 0)
    return fd;
  if (fd >= 0) close(fd);
  return -1;
}

// Both families on one socket; on a machine without IPv6 only the other.
int listen_anywhere() {
  const int off = 0;
  int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd >= 0) {
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
    sockaddr_in6 any{};
    any.sin6_family = AF_INET6;
    if (bind(fd, reinterpret_cast<const sockaddr*>(&any), sizeof(any)) == 0 && listen(fd, kBacklog) == 0)
      return fd;
    close(fd);
  }
  fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  if (fd < 0 || bind(fd, reinterpret_cast<const sockaddr*>(&any), sizeof(any)) != 0 ||
      listen(fd, kBacklog) != 0) {
    if (fd >= 0) close(fd);
    return -1;
  }
  return fd;
}

std::uint16_t port_of(int fd) {
  sockaddr_storage own{};
  socklen_t length = sizeof(own);
  getsockname(fd, reinterpret_cast<sockaddr*>(&own), &length);
  return ntohs(own.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(own).sin6_port
                                         : reinterpret_cast<const sockaddr_in&>(own).sin_port);
}

// Those that lead here from other machines, and the loopback ones (addresses_from() chooses).
std::vector<std::string> own_addresses() {
  const std::vector<net::tcp::LocalAddress> all = net::tcp::local_addresses();
  std::vector<std::string> texts;
  for (const bool same_machine : {false, true}) {
    const auto chosen = net::tcp::choose_addresses(all, "", same_machine);
    if (!chosen) continue;
    for (const net::tcp::LocalAddress& local : *chosen) texts.push_back(local.endpoint.host_text());
  }
  if (texts.empty()) texts.emplace_back(kLoopback);
  return texts;
}

// Accepts connections until every node process is there.
class Acceptor {
 public:
  Acceptor(int listener, const net::Identity& self, const net::KeyPair& pair, const net::JobKey& key,
           NodeKeys& node_keys, std::vector<int>& channels, std::size_t first)
      : listener_(listener),
        self_(self),
        pair_(pair),
        key_(key),
        node_keys_(node_keys),
        channels_(channels),
        first_(first) {}
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;
  ~Acceptor() {
    for (const PendingConnection& connection : pending_) close(connection.fd);
  }

  bool complete() const {
    return std::all_of(channels_.begin() + static_cast<std::ptrdiff_t>(first_), channels_.end(),
                       [](int fd) { return fd >= 0; });
  }

  // Waits a little for whatever comes. False: nothing comes any more, since `stop` says so.
  bool advance(int stop) {
    std::vector<pollfd> requests{{stop, POLLIN, 0},
                                 {std::exchange(no_descriptors_, false) ? -1 : listener_, POLLIN, 0},
                                 {node_keys_.descriptor(), POLLIN, 0}};
    for (const PendingConnection& connection : pending_) {
      const bool sending = !connection.handshake.to_send().empty();
      const bool waiting = connection.handshake.state() == State::kNamed;  // for its key
      requests.push_back(
          {waiting ? -1 : connection.fd, static_cast<short>(sending ? POLLIN | POLLOUT : POLLIN), 0});
    }
    poll(requests.data(), requests.size(), 250);  // the deadlines are not so exact
    if (requests[2].revents != 0) node_keys_.read_more();
    const auto now = Clock::now();
    const pollfd* request = requests.data() + 3;
    for (auto connection = pending_.begin(); connection != pending_.end(); ++request) {
      const bool named = connection->handshake.state() == State::kNamed;
      const bool late =
          request->revents == 0 && now >= connection->deadline;  // this process may have been stopped
      if (late) close(connection->fd);
      const bool stays = !late && ((request->revents == 0 && !named) || serve(*connection));
      connection = stays ? std::next(connection) : pending_.erase(connection);
    }
    if (requests[1].revents != 0) accept_new();
    return requests[0].revents == 0 || requests[1].revents != 0 || complete();
  }

 private:
  using State = net::Handshake::State;

  // As many at a time as may wait: each of them is looked at before it may have to yield.
  void accept_new() {
    for (std::size_t accepted = 0; accepted < kMostPending; ++accepted) {
      if (pending_.size() >= kMostPending) drop_oldest();
      const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)) {
        // It would wake poll() again and again; whoever waits goes first, and a little time.
        if (!drop_oldest()) no_descriptors_ = true;
        return;
      }
      if (fd < 0) return;
      const auto now = Clock::now();
      pending_.push_back({fd, net::Handshake::answer_each(self_), now, now + kHandshakeTime, {}});
    }
  }

  // Whoever has had the longest time to say who it is, and has not; if all have, the oldest of these, who have
  // proved nothing yet either. False: there is none.
  bool drop_oldest() {
    if (pending_.empty()) return false;
    const auto nameless = std::ranges::find_if(pending_, [](const PendingConnection& connection) {
      return connection.handshake.state() != State::kNamed;
    });
    const auto oldest = nameless != pending_.end() ? nameless : pending_.begin();
    close(oldest->fd);
    pending_.erase(oldest);
    return true;
  }

  // False: done with this connection.
  bool serve(PendingConnection& connection) {
    net::pump(connection.fd, connection.handshake);
    if (connection.handshake.state() == State::kNamed) find_secret(connection);
    if (connection.handshake.state() == State::kClaimed && admit(connection)) return false;
    if (connection.handshake.state() != State::kRefused) return true;
    net::close_politely(connection.fd);
    return false;
  }

  // It says which node process it is: from here on it must have that one's key pair.
  void find_secret(PendingConnection& connection) {
    const auto node = static_cast<std::size_t>(connection.handshake.peer());  // a negative one becomes large
    if (node < first_ || node >= channels_.size()) {
      connection.handshake.refuse("the job has no such node process");
    } else if (const net::PublicKey* known = node_keys_.of(node)) {
      const Result<net::SharedSecrets> shared = pair_.share_with_node(*known);
      if (shared) {
        connection.deadline = Clock::now() + kHandshakeTime;
        connection.delivery = shared->delivery;
        connection.handshake.use_secret(shared->handshake);
      } else {
        connection.handshake.refuse("the node process's public key is none");
      }
    } else {
      connection.deadline = connection.came + kKeyTime;
      return;  // it has not come yet
    }
    net::pump(connection.fd, connection.handshake);
  }

  // It has proved who it is. True: its socket is a channel now.
  bool admit(PendingConnection& connection) {
    int& channel = channels_[static_cast<std::size_t>(connection.handshake.peer())];
    if (channel >= 0) {
      connection.handshake.refuse("this node process is connected already");
      net::pump(connection.fd, connection.handshake);
      return false;
    }
    const Result<net::SealedKey> sealed = net::seal(key_, connection.delivery);
    if (!sealed) {
      connection.handshake.refuse(sealed.message());
      net::pump(connection.fd, connection.handshake);
      return false;
    }
    connection.handshake.accept();
    // All of it goes: the connection is new, its buffer empty.
    net::pump(connection.fd, connection.handshake);
    const auto sent = send(connection.fd, sealed->data(), sealed->size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent != static_cast<ssize_t>(sealed->size())) {  // it has gone already
      connection.handshake.abandon(net::Refusal::kClosed, "");
      return false;
    }
    channel = connection.fd;
    tune_channel(channel);
    return true;
  }

  int listener_;
  const net::Identity& self_;
  const net::KeyPair& pair_;
  const net::JobKey& key_;
  NodeKeys& node_keys_;
  std::vector<int>& channels_;
  std::size_t first_;
  std::list<PendingConnection> pending_;  // oldest first
  bool no_descriptors_ = false;           // none for a new one: not before the next look
};

}  // namespace

Result<AttachPort> AttachPort::open(Reach reach) {
  Result<net::KeyPair> pair = net::KeyPair::draw();
  if (!pair) return pair.failure();
  Result<net::JobKey> key = net::JobKey::draw();
  if (!key) return key.failure();
  const bool here = reach == Reach::kThisMachine;
  const int fd = here ? listen_here() : listen_anywhere();
  if (fd < 0) return Failure{fmt::format("cannot open a TCP port: {}", strerror(errno))};
  AttachTarget target;
  target.job = key->job;
  target.key = pair->public_key();
  target.port = port_of(fd);
  target.addresses = here ? std::vector<std::string>{kLoopback} : own_addresses();
  target.network = own_hello().network;
  return AttachPort(fd, std::move(target), *std::move(pair), *std::move(key));
}

AttachPort::AttachPort(AttachPort&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      target_(std::move(other.target_)),
      pair_(std::move(other.pair_)),
      key_(std::move(other.key_)) {}

AttachPort::~AttachPort() {
  if (fd_ >= 0) close(fd_);
}

AttachPort::Outcome AttachPort::gather(std::vector<int>& channels, std::size_t first, NodeKeys& keys,
                                       int stop, double seconds) const {
  net::Identity self;
  self.node = net::kLauncherNode;
  self.role = net::Role::kControl;
  self.job = target_.job;
  self.host = own_hello().host;
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(seconds > 0 ? seconds : 1e6));
  Acceptor acceptor(fd_, self, pair_, key_, keys, channels, first);
  while (!acceptor.complete()) {
    if (!acceptor.advance(stop)) return Outcome::kStopped;
    if (Clock::now() >= deadline && !acceptor.complete()) return Outcome::kLate;
  }
  return Outcome::kComplete;
}

}  // namespace tmpi::launch
