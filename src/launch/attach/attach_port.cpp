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
#include <optional>
#include <utility>

#include "launch/attach/attach_socket.hpp"
#include "launch/wire/hello.hpp"
#include "net/listener.hpp"
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
constexpr std::chrono::milliseconds kLook{250};
constexpr std::chrono::seconds kStopped{1};  // later than that: this process may have been stopped

Fd stream_socket(int family) {
  return Fd(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

template <class Address>
bool listens(const Fd& socket, const Address& address) {
  return socket && bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
         listen(socket.get(), kBacklog) == 0;
}

Fd listen_at(in_addr_t where) {
  Fd socket = stream_socket(AF_INET);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(where);
  return listens(socket, address) ? std::move(socket) : Fd();
}

// Both families on one socket; on a machine without IPv6 only the other.
Fd listen_anywhere() {
  Fd socket = stream_socket(AF_INET6);
  const int off = 0;
  if (socket) setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  sockaddr_in6 any{};
  any.sin6_family = AF_INET6;
  return listens(socket, any) ? std::move(socket) : listen_at(INADDR_ANY);
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

}  // namespace

class AttachPort::Waiting final : private net::Listener::Owner {
 public:
  Waiting(Fd socket, AttachTarget target, net::KeyPair pair, net::JobKey key)
      : target_(std::move(target)), pair_(std::move(pair)), key_(std::move(key)) {
    self_.node = net::kLauncherNode;
    self_.role = net::Role::kControl;
    self_.job = target_.job;
    self_.host = own_hello().host;
    listener_.add(std::move(socket));
  }

  const AttachTarget& target() const { return target_; }
  const net::JobKey& key() const { return key_; }

  Outcome gather(std::vector<Fd>& channels, std::size_t first, NodeKeys& keys, int stop, double seconds) {
    channels_ = &channels;
    first_ = first;
    keys_ = &keys;
    const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                             std::chrono::duration<double>(seconds > 0 ? seconds : 1e6));
    while (!complete()) {
      if (!advance(stop)) return Outcome::kStopped;
      if (Clock::now() >= deadline && !complete()) return Outcome::kLate;
    }
    return Outcome::kComplete;
  }

 private:
  bool complete() const {
    return std::all_of(channels_->begin() + static_cast<std::ptrdiff_t>(first_), channels_->end(),
                       [](const Fd& channel) { return static_cast<bool>(channel); });
  }

  // What poll() is to look at; behind the first three, those of `places`.
  std::vector<pollfd> requests(int stop, std::vector<std::size_t>& places) const {
    std::vector<pollfd> all{{stop, POLLIN, 0},
                            {listener_.accepting() ? listener_.socket(0) : -1, POLLIN, 0},
                            {keys_->descriptor(), POLLIN, 0}};
    for (std::size_t place = 0; place < listener_.pending().size(); ++place) {
      const auto& pending = listener_.pending()[place];
      // One that has said who it is waits for its key to come.
      if (!pending || pending->handshake.state() == net::Handshake::State::kNamed) continue;
      const bool sending = !pending->handshake.to_send().empty();
      all.push_back({pending->fd.get(), static_cast<short>(sending ? POLLIN | POLLOUT : POLLIN), 0});
      places.push_back(place);
    }
    return all;
  }

  // Waits a little for whatever comes. False: nothing comes any more, since `stop` says so.
  bool advance(int stop) {
    std::vector<std::size_t> places;
    std::vector<pollfd> watched = requests(stop, places);
    const auto start = Clock::now();
    poll(watched.data(), watched.size(), static_cast<int>(kLook.count()));  // the deadlines are not so exact
    const auto slept = Clock::now() - start;
    if (slept > kLook + kStopped) listener_.extend(slept - kLook);
    if (watched[2].revents != 0) {
      keys_->read_more();
      listener_.on_secrets();
    }
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (watched[3 + i].revents != 0) listener_.on_pending(places[i]);
    }
    listener_.sweep(Clock::now());
    if (watched[1].revents != 0) listener_.on_socket(0);
    return watched[0].revents == 0 || watched[1].revents != 0 || complete();
  }

  std::optional<net::Handshake> begin(int, std::size_t, std::size_t) noexcept override {
    return net::Handshake::answer_each(self_);
  }

  // From here on it must have that one's key pair.
  void named(net::Listener::Pending& pending) noexcept override {
    const auto node = static_cast<std::size_t>(pending.handshake.peer());  // a negative one becomes large
    if (node < first_ || node >= channels_->size())
      return pending.handshake.refuse("the job has no such node process");
    const net::PublicKey* const known = keys_->of(node);
    if (known == nullptr) {
      pending.deadline = pending.came + kKeyTime;
      return;
    }
    const Result<net::SharedSecrets> shared = pair_.share_with_node(*known);
    if (!shared) return pending.handshake.refuse("the node process's public key is none");
    pending.deadline = Clock::now() + kHandshakeTime;
    pending.handshake.use_secret(shared->handshake);
  }

  net::Listener::Objection objection(const net::Handshake& handshake) noexcept override {
    if ((*channels_)[static_cast<std::size_t>(handshake.peer())])
      return {net::Refusal::kNotNow, "this node process is connected already"};
    return {};
  }

  // It gets the job's key, and its socket is a channel.
  void connected(net::Listener::Pending& pending) noexcept override {
    const auto node = static_cast<std::size_t>(pending.handshake.peer());
    const Result<net::SharedSecrets> shared = pair_.share_with_node(*keys_->of(node));
    if (!shared) return;
    const Result<net::SealedKey> sealed = net::seal(key_, shared->delivery);
    if (!sealed) return;
    // All of it goes: the connection is new, its buffer empty.
    const auto sent = send(pending.fd.get(), sealed->data(), sealed->size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent != static_cast<ssize_t>(sealed->size())) return;  // it has gone already
    tune_channel(pending.fd.get());
    (*channels_)[node] = std::move(pending.fd);
  }

  const AttachTarget target_;
  const net::KeyPair pair_;
  const net::JobKey key_;
  net::Identity self_;
  net::Listener listener_{*this, {kMostPending, kMostPending, kHandshakeTime}};
  // Of the present gather().
  std::vector<Fd>* channels_ = nullptr;
  std::size_t first_ = 0;
  NodeKeys* keys_ = nullptr;
};

Result<AttachPort> AttachPort::open(Reach reach) {
  Result<net::KeyPair> pair = net::KeyPair::draw();
  if (!pair) return pair.failure();
  Result<net::JobKey> key = net::JobKey::draw();
  if (!key) return key.failure();
  const bool here = reach == Reach::kThisMachine;
  Fd socket = here ? listen_at(INADDR_LOOPBACK) : listen_anywhere();
  if (!socket) return Failure{fmt::format("cannot open a TCP port: {}", strerror(errno))};
  AttachTarget target;
  target.job = key->job;
  target.key = pair->public_key();
  target.port = port_of(socket.get());
  target.addresses = here ? std::vector<std::string>{kLoopback} : own_addresses();
  target.network = own_hello().network;
  return AttachPort(
      std::make_unique<Waiting>(std::move(socket), std::move(target), *std::move(pair), *std::move(key)));
}

AttachPort::AttachPort(std::unique_ptr<Waiting> waiting) : waiting_(std::move(waiting)) {}
AttachPort::AttachPort(AttachPort&& other) noexcept = default;
AttachPort::~AttachPort() = default;

const AttachTarget& AttachPort::target() const {
  return waiting_->target();
}

const net::JobKey& AttachPort::key() const {
  return waiting_->key();
}

AttachPort::Outcome AttachPort::gather(std::vector<Fd>& channels, std::size_t first, NodeKeys& keys, int stop,
                                       double seconds) const {
  return waiting_->gather(channels, first, keys, stop, seconds);
}

}  // namespace tmpi::launch
