#include "launch/attach/attach_port.hpp"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <list>
#include <utility>

#include "launch/attach/attach_socket.hpp"
#include "launch/wire/greeting.hpp"
#include "net/handshake_io.hpp"

namespace tmpi::launch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kHandshakeTime{10};
constexpr std::size_t kMostVisitors = 512;  // in the middle of a handshake
constexpr int kBacklog = 4096;

// Somebody who has connected and has not proved yet who it is.
struct Visitor {
  int fd;
  net::Handshake handshake;
  Clock::time_point deadline;
};

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

// Of all interfaces that are up, loopback last; no link-local ones, which mean nothing elsewhere.
std::vector<std::string> own_addresses() {
  std::vector<std::string> addresses;
  std::vector<std::string> loopback;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) != 0) return {"127.0.0.1"};
  for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0) continue;
    char text[INET6_ADDRSTRLEN] = "";
    if (each->ifa_addr->sa_family == AF_INET) {
      inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr, text, sizeof(text));
    } else if (each->ifa_addr->sa_family == AF_INET6) {
      const in6_addr& address = reinterpret_cast<const sockaddr_in6*>(each->ifa_addr)->sin6_addr;
      if (!IN6_IS_ADDR_LINKLOCAL(&address)) inet_ntop(AF_INET6, &address, text, sizeof(text));
    }
    if (text[0] != '\0') ((each->ifa_flags & IFF_LOOPBACK) != 0 ? loopback : addresses).emplace_back(text);
  }
  freeifaddrs(all);
  addresses.insert(addresses.end(), loopback.begin(), loopback.end());
  if (addresses.empty()) addresses.emplace_back("127.0.0.1");
  return addresses;
}

// Lets visitors in until every node process is there.
class Reception {
 public:
  Reception(int listener, net::Identity self, std::vector<int>& channels, std::size_t first)
      : listener_(listener), self_(std::move(self)), channels_(channels), first_(first) {}
  ~Reception() {
    for (const Visitor& visitor : visitors_) close(visitor.fd);
  }

  bool complete() const {
    return std::all_of(channels_.begin() + static_cast<std::ptrdiff_t>(first_), channels_.end(),
                       [](int fd) { return fd >= 0; });
  }

  // Waits a little for whatever comes. False: nothing comes any more, since `stop` says so.
  bool advance(int stop) {
    std::vector<pollfd> requests{{stop, POLLIN, 0},
                                 {visitors_.size() < kMostVisitors ? listener_ : -1, POLLIN, 0}};
    for (const Visitor& visitor : visitors_) {
      const bool sending = !visitor.handshake.to_send().empty();
      requests.push_back({visitor.fd, static_cast<short>(sending ? POLLIN | POLLOUT : POLLIN), 0});
    }
    poll(requests.data(), requests.size(), 250);  // visitors' deadlines are not so exact
    const auto now = Clock::now();
    const pollfd* request = requests.data() + 2;
    for (auto visitor = visitors_.begin(); visitor != visitors_.end(); ++request) {
      const bool late =
          request->revents == 0 && now >= visitor->deadline;  // this process may have been stopped
      if (late) close(visitor->fd);
      const bool stays = !late && (request->revents == 0 || serve(*visitor));
      visitor = stays ? std::next(visitor) : visitors_.erase(visitor);
    }
    if (requests[1].revents != 0) welcome();
    return requests[0].revents == 0 || requests[1].revents != 0 || complete();
  }

 private:
  void welcome() {
    while (visitors_.size() < kMostVisitors) {
      const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd < 0) return;
      visitors_.push_back({fd, net::Handshake::answer(self_), Clock::now() + kHandshakeTime});
    }
  }

  // False: done with this visitor.
  bool serve(Visitor& visitor) {
    using State = net::Handshake::State;
    net::pump(visitor.fd, visitor.handshake);
    if (visitor.handshake.state() == State::kClaimed && admit(visitor)) return false;
    if (visitor.handshake.state() != State::kRefused) return true;
    net::close_politely(visitor.fd);
    return false;
  }

  // It has proved who it is. True: its socket is a channel now.
  bool admit(Visitor& visitor) {
    const auto node = static_cast<std::size_t>(visitor.handshake.peer());  // a negative one becomes large
    const bool known = node >= first_ && node < channels_.size();
    if (!known) {
      visitor.handshake.refuse("the job has no such node process");
    } else if (channels_[node] >= 0) {
      visitor.handshake.refuse("this node process is connected already");
    } else {
      visitor.handshake.accept();
      channels_[node] = visitor.fd;
      tune_channel(visitor.fd);
    }
    net::pump(visitor.fd, visitor.handshake);  // all of it goes: the connection is new, its buffer empty
    return known && channels_[node] == visitor.fd;
  }

  int listener_;
  net::Identity self_;
  std::vector<int>& channels_;
  std::size_t first_;
  std::list<Visitor> visitors_;
};

}  // namespace

Result<AttachPort> AttachPort::open() {
  if (!net::prepare_secrets()) return Failure{"cannot draw random numbers: libsodium does not start"};
  const int fd = listen_anywhere();
  if (fd < 0) return Failure{fmt::format("cannot open a TCP port: {}", strerror(errno))};
  AttachTarget target;
  [[maybe_unused]] const ssize_t drawn = getrandom(&target.job, sizeof(target.job), 0);
  target.secret = net::draw_secret();
  target.port = port_of(fd);
  target.addresses = own_addresses();
  return AttachPort(fd, std::move(target));
}

AttachPort::AttachPort(AttachPort&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), target_(std::move(other.target_)) {}

AttachPort::~AttachPort() {
  if (fd_ >= 0) close(fd_);
}

AttachPort::Outcome AttachPort::gather(std::vector<int>& channels, std::size_t first, int stop,
                                       double seconds) const {
  net::Identity self;
  self.node = net::kLauncherNode;
  self.role = net::Role::kControl;
  self.job = target_.job;
  self.secret = target_.secret;
  self.host = own_greeting().host;
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(seconds > 0 ? seconds : 1e6));
  Reception reception(fd_, self, channels, first);
  while (!reception.complete()) {
    if (!reception.advance(stop)) return Outcome::kStopped;
    if (Clock::now() >= deadline && !reception.complete()) return Outcome::kLate;
  }
  return Outcome::kComplete;
}

}  // namespace tmpi::launch
