#include "net/tcp/tcp.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fstream>

#include "net/maker.hpp"
#include "net/proof.hpp"
#include "timers/clock.hpp"

namespace tmpi::net::tcp {
namespace {

constexpr int kEventsAtOnce = 64;
constexpr std::uint64_t kSpinning =
    3000;  // ticks between calls of poll() by a worker that has nothing else to do
constexpr int kPeeks = 4;

// How long a message waits that comes behind the two pieces of a large one that are under way: 10 Gbit/s need
// 0.2 ms for one. Over loopback a system call for 1 MiB costs 20 % less than four for a quarter of it.
constexpr std::size_t kSegment = 256 << 10;
constexpr std::size_t kLoopbackSegment = 1 << 20;

std::string own_host() {
  char name[HOST_NAME_MAX + 1] = "this host";
  gethostname(name, sizeof name - 1);
  return name;
}

// -1: the system does not say, as of interfaces that are no devices.
int numa_node_of(const std::string& interface) {
  int node = -1;
  std::ifstream("/sys/class/net/" + interface + "/device/numa_node") >> node;
  return node;
}

Result<void> check(std::string_view settings) {
  const Result<Settings> parsed = parse_settings(settings);
  return parsed ? Result<void>() : Result<void>(parsed.failure());
}

}  // namespace

Limits limits(bool same_machine) noexcept {
  Limits limits;
  limits.most_header = kMostHeader;
  limits.most_buffered = Link::kMostBuffered;
  limits.eager = 64 << 10;
  limits.segment = same_machine ? kLoopbackSegment : kSegment;
  return limits;
}

Tcp::Tcp(const Options& options, Sink& sink) : limits_(tcp::limits(options.same_machine)) {
  context_.sink = &sink;
  context_.self = {options.node, Role::kPeer, options.job, options.secret, own_host()};
  context_.active.reserve(static_cast<std::size_t>(options.nodes));
  working_.reserve(static_cast<std::size_t>(options.nodes));
  for (int node = 0; node < options.nodes; ++node)
    links_.push_back(node == options.node ? nullptr : std::make_unique<Link>(context_, node));
}

Tcp::~Tcp() = default;

Result<std::unique_ptr<Transport>> Tcp::create(std::string_view settings, const Options& options,
                                               Sink& sink) {
  const Result<Settings> parsed = parse_settings(settings);
  if (!parsed) return parsed.failure();
  if (!prepare_proofs()) return Failure{"this system gives no random numbers (getrandom fails)"};
  std::unique_ptr<Tcp> tcp(new Tcp(options, sink));
  if (const Result<void> opened = tcp->open(*parsed, options.same_machine); !opened) return opened.failure();
  return std::unique_ptr<Transport>(std::move(tcp));
}

Result<void> Tcp::open(const Settings& settings, bool same_machine) {
  context_.epoll.reset(epoll_create1(EPOLL_CLOEXEC));
  if (!context_.epoll) return Failure{fmt::format("tcp: epoll_create1: {}", std::strerror(errno))};
  own_addresses_ = local_addresses();
  const auto chosen = choose_addresses(own_addresses_, settings.interface, same_machine);
  if (!chosen) return chosen.failure();
  if (Result<void> listening = acceptor_.listen(*chosen, settings); !listening) return listening;
  if (!chosen->empty()) numa_node_ = numa_node_of(chosen->front().interface);
  if (settings.encrypt) context_.self.role = Role::kSealedPeer;
  address_ = address_text(acceptor_.endpoints());
  description_ = "tcp on";
  for (const Endpoint& endpoint : acceptor_.endpoints()) {
    const auto local = std::find_if(chosen->begin(), chosen->end(), [&](const LocalAddress& candidate) {
      return candidate.endpoint.host_text() == endpoint.host_text();
    });
    description_ +=
        fmt::format("{} {} ({})", description_.back() == ')' ? "," : "", local->interface, endpoint.text());
  }
  if (settings.encrypt) description_ += ", encrypted";
  return {};
}

Result<void> Tcp::set_peers(std::vector<Peer> peers) {
  if (peers.size() != links_.size())
    return Failure{
        fmt::format("tcp was told the addresses of {} nodes, not of {}", peers.size(), links_.size())};
  for (std::size_t node = 0; node < peers.size(); ++node) {
    if (!links_[node]) continue;
    auto endpoints = endpoints_from_text(peers[node].address);
    if (!endpoints)
      return Failure{fmt::format("node {} on {}: {}", node, peers[node].host, endpoints.message())};
    sort_by_nearness(*endpoints, own_addresses_);
    links_[node]->set_peer(std::move(peers[node].host), *std::move(endpoints));
  }
  return {};
}

Post Tcp::send(int peer, std::uint8_t id, std::span<const std::byte> header, std::span<const iovec> payload,
               Completion* completion) noexcept {
  assert(peer >= 0 && static_cast<std::size_t>(peer) < links_.size() &&
         links_[static_cast<std::size_t>(peer)]);
  assert(header.size() <= kMostHeader);
  return links_[static_cast<std::size_t>(peer)]->send(id, header, payload, completion);
}

Result<RemoteKey> Tcp::expose(int, const void*, std::size_t) {
  return Failure{"tcp cannot read another node's memory"};
}
void Tcp::conceal(const RemoteKey&) noexcept {}
Post Tcp::get(int, const RemoteKey&, std::uint64_t, void*, std::size_t, Completion*) noexcept {
  assert(!"limits().can_get is false");
  return Post::kNoResource;
}

// --- progress

// Whoever spins on poll() most likely waits for the peer that has spoken last: asking its socket saves asking
// the set, and 0.4 us of a small message's time. Everybody else's turn comes every few calls.
bool Tcp::poll() noexcept {
  context_.polling = true;
  ++context_.polls;
  const std::uint64_t now = timers::now_ticks();
  if (peeks_left_ > 0 && context_.recent != nullptr && now - last_poll_ < kSpinning) {
    --peeks_left_;
    context_.recent->peek();
  } else {
    peeks_left_ = kPeeks;
    harvest(0);
  }
  bool progress = work();
  if (--polls_until_clock_ <= 0) progress = look_at_clock() || progress;
  context_.polling = false;
  last_poll_ = timers::now_ticks();
  return progress;
}

// Asks the kernel what has happened.
void Tcp::harvest(int milliseconds) noexcept {
  epoll_event events[kEventsAtOnce];
  const int count = epoll_wait(context_.epoll.get(), events, kEventsAtOnce, milliseconds);
  for (int i = 0; i < count; ++i) {
    const std::uint32_t index = index_of(events[i].data.u64);
    switch (party_of(events[i].data.u64)) {
      case Party::kLink:
        links_[index]->on_event(events[i].events);
        break;
      case Party::kListener:
        acceptor_.on_listener(index);
        polls_until_clock_ = 0;
        break;
      case Party::kPending:
        acceptor_.on_pending(index);
        break;
    }
  }
}

// Serves every link that has something to do, once. What the sink and completions post meanwhile to links
// that have been served already has them listed again; it leaves before poll() returns.
bool Tcp::work() noexcept {
  bool progress = false;
  for (int round = 0; round < 2 && !context_.active.empty(); ++round) {
    working_.swap(context_.active);
    for (Link* link : working_) {
      link->listed = false;
      progress = link->work() || progress;
    }
    working_.clear();
  }
  return progress;
}

// True if anything has happened because its time has come.
bool Tcp::look_at_clock() noexcept {
  polls_until_clock_ = kPollsPerClock;
  const std::uint64_t now = nanoseconds_now();
  bool due = false;
  for (const auto& link : links_) {
    if (!link || link->next_time() > now) continue;
    link->on_time(now);
    due = true;
  }
  acceptor_.sweep(now);
  return due;
}

Arming Tcp::arm(bool) noexcept {
  Arming arming;
  arming.fd = context_.epoll.get();
  // Takes what the set still reports of events that have been dealt with, else the sleeper would wake up at
  // once.
  context_.polling = true;
  harvest(0);
  context_.polling = false;
  polls_until_clock_ = 0;  // whoever wakes up may have slept long
  std::uint64_t next = acceptor_.next_time();
  for (const auto& link : links_)
    if (link) next = std::min(next, link->next_time());
  const std::uint64_t now = next != kNever ? nanoseconds_now() : 0;
  arming.ready = !context_.active.empty() || next <= now;
  if (next != kNever && next > now) arming.nanoseconds = next - now;
  return arming;
}

Objection Tcp::objection(int peer) noexcept {
  if (peer < 0 || static_cast<std::size_t>(peer) >= links_.size() || !links_[static_cast<std::size_t>(peer)])
    return {Refusal::kUnwanted, "there is no node of this number"};
  return links_[static_cast<std::size_t>(peer)]->objection();
}

void Tcp::connected(int peer, Fd fd) noexcept {
  links_[static_cast<std::size_t>(peer)]->adopt(std::move(fd));
}

// --- the end

bool Tcp::idle() const noexcept {
  return std::all_of(links_.begin(), links_.end(), [](const auto& link) { return !link || link->idle(); });
}

bool Tcp::close(double seconds) noexcept {
  const std::uint64_t deadline = nanoseconds_now() + static_cast<std::uint64_t>(seconds * 1e9);
  context_.polling = true;
  for (const auto& link : links_)
    if (link) link->begin_close();
  const auto all_closed = [&] {
    return std::all_of(links_.begin(), links_.end(),
                       [](const auto& link) { return !link || link->closed(); });
  };
  bool closed = false;
  while (!(closed = all_closed()) && nanoseconds_now() < deadline) {
    harvest(context_.active.empty() ? 1 : 0);  // nothing tells when the peer's host has acknowledged
    work();
    look_at_clock();
  }
  for (const auto& link : links_)
    if (link) link->end_close();
  return closed;
}

Transport::Traffic Tcp::traffic() const noexcept {
  Traffic traffic = context_.traffic;
  for (const auto& link : links_) {
    if (!link) continue;
    traffic.messages_received += link->received().messages;
    traffic.bytes_received += link->received().bytes;
  }
  return traffic;
}

}  // namespace tmpi::net::tcp

namespace tmpi::net {

namespace tcp {
namespace {

constexpr NamedLimit kNamedLimits[] = {
    {"tcp_buffered", Link::kMostBuffered,
     "Bytes of the largest message of which tcp takes a copy if it cannot leave at once."},
    {"tcp_copied", Link::kMostCopied,
     "Bytes of such copies that may wait for a peer; then its messages wait in the library's own queue."},
    {"tcp_references", Link::kMostReferences, "Larger messages that may wait for a peer likewise."},
    {"tcp_burst", Link::kBurst,
     "Small messages to a peer, between two looks at the network, each of which leaves at once; later ones "
     "leave together."},
    {"tcp_burst_bytes", Link::kBurstBytes, "Bytes of such later ones that leave together."},
    {"tcp_read", Context::kReadBytes, "Bytes that are read from a connection by one system call."},
    {"tcp_pending", Acceptor::kMostPending,
     "Connections of which it is not known yet whose they are, at a time; with one more the oldest goes."},
    {"tcp_patience", Acceptor::kPatience, "Nanoseconds in which such a connection has to say whose it is."},
    {"tcp_header", kMostHeader,
     "Bytes of the header of a message that is believed; a longer one is nonsense."},
};

}  // namespace
}  // namespace tcp

const Maker kTcp = {tcp::kSettingsHelp,
                    [](std::string_view settings, const Options& options, Sink& sink) {
                      return tcp::Tcp::create(settings, options, sink);
                    },
                    tcp::check,
                    nullptr,
                    nullptr,
                    tcp::limits,
                    tcp::kNamedLimits};

}  // namespace tmpi::net
