#include "net/junction.hpp"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "net/maker.hpp"

namespace tmpi::net {
namespace {

constexpr double kDrainSeconds = 5;
constexpr int kQuietPolls = 16;  // that find nothing: not each looks at all sockets

double now() noexcept {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace

// One other job: its transport, and what its peers are called here.
class Junction::Branch final : public Sink {
 public:
  Branch(const Way& way, Sink& sink) : way_(way), sink_(sink) {}

  bool has(int peer) const noexcept { return peer >= way_.first_peer && peer < way_.first_peer + way_.count; }
  int first_peer() const noexcept { return way_.first_peer; }
  int there(int peer) const noexcept { return peer - way_.first_peer + way_.first_there; }

  Landing arriving(int peer, std::uint8_t id, std::span<const std::byte> header,
                   std::size_t payload) noexcept override {
    return is_theirs(peer) ? sink_.arriving(here(peer), id, header, payload) : Landing{};
  }
  void landed(int peer, void* token) noexcept override {
    if (is_theirs(peer)) sink_.landed(here(peer), token);
  }
  void lost(int peer, const std::string& why) noexcept override {
    if (is_theirs(peer) && !ended) sink_.lost(here(peer), why);
  }

  std::unique_ptr<Transport> transport;
  bool joined = false;
  bool ended = false;  // the other job: that its streams end is no news

 private:
  // The transport has nodes of this job, too, who do not use it among themselves.
  bool is_theirs(int peer) const noexcept {
    return peer >= way_.first_there && peer < way_.first_there + way_.count;
  }
  int here(int peer) const noexcept { return peer - way_.first_there + way_.first_peer; }

  const Way way_;
  Sink& sink_;
};

Result<std::unique_ptr<Junction>> Junction::create(std::unique_ptr<Transport> own, int own_nodes,
                                                   Sink& sink) {
  Fd epoll(epoll_create1(EPOLL_CLOEXEC));
  Fd alarm(epoll ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1);
  const auto failed = [] {
    return Failure{fmt::format("cannot watch connections to other jobs: {}", std::strerror(errno))};
  };
  if (!alarm) return failed();
  const int counter = alarm.get();
  std::unique_ptr<Junction> junction(
      new Junction(std::move(own), own_nodes, sink, std::move(epoll), std::move(alarm)));
  if (!junction->watch(counter)) return failed();
  return junction;
}

Junction::Junction(std::unique_ptr<Transport> own, int own_nodes, Sink& sink, Fd epoll, Fd alarm)
    : own_(std::move(own)),
      own_nodes_(own_nodes),
      sink_(sink),
      epoll_(std::move(epoll)),
      alarm_(std::move(alarm)) {
  limits_ = kTcp.limits(true);
  if (own_ == nullptr) return;
  const Limits others = std::exchange(limits_, own_->limits());
  limits_.most_header = std::min(limits_.most_header, others.most_header);
  limits_.most_buffered = std::min(limits_.most_buffered, others.most_buffered);
}

Junction::~Junction() = default;

Junction::Branch* Junction::branch_of(int peer) const noexcept {
  for (const auto& branch : branches_) {
    if (branch->has(peer)) return branch.get();
  }
  return nullptr;
}

bool Junction::watch(int fd) noexcept {
  epoll_event event{};
  event.events = EPOLLIN;
  return fd < 0 || epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) == 0 || errno == EEXIST;
}

Result<std::string> Junction::prepare(const Way& way, Options options) {
  auto branch = std::make_unique<Branch>(way, sink_);
  options.spec = "tcp";
  options.same_machine = true;
  options.adapts = false;
  auto made = create_transport(options, *branch);
  if (!made) return made.failure();
  branch->transport = std::move(*made);
  if (!watch(branch->transport->arm(false).fd))
    return Failure{fmt::format("cannot watch a connection to another job: {}", std::strerror(errno))};
  std::string address = branch->transport->address();
  branches_.push_back(std::move(branch));
  return address;
}

Result<void> Junction::join(int first_peer, std::vector<Peer> peers) {
  Branch* const branch = branch_of(first_peer);
  if (branch == nullptr) return Failure{"there is no such other job"};
  if (Result<void> set = branch->transport->set_peers(std::move(peers)); !set) return set;
  branch->joined = true;
  return {};
}

void Junction::drain(int first_peer) noexcept {
  Branch* const branch = branch_of(first_peer);
  if (branch == nullptr) return;
  branch->ended = true;
  // A job that was refused may go on sending: not for ever.
  const double end = now() + kDrainSeconds;
  for (int quiet = 0; quiet < kQuietPolls && now() < end;) quiet = branch->transport->poll() ? 0 : quiet + 1;
}

void Junction::part(int first_peer) noexcept {
  const auto found = std::ranges::find(branches_, first_peer, &Branch::first_peer);
  if (found == branches_.end()) return;
  (*found)->transport->close(0);
  branches_.erase(found);
  alarmed_ = eventfd_write(alarm_.get(), 1) == 0;
}

std::string Junction::describe() const {
  return own_ != nullptr ? own_->describe() : "none but to other jobs";
}

const std::string& Junction::address() const noexcept {
  static const std::string none;
  return own_ != nullptr ? own_->address() : none;
}

Post Junction::send(int peer, std::uint8_t id, std::span<const std::byte> header,
                    std::span<const iovec> payload, Completion* completion) noexcept {
  if (peer < own_nodes_) return own_->send(peer, id, header, payload, completion);
  Branch* const branch = branch_of(peer);
  if (branch == nullptr || !branch->joined) return Post::kDone;
  return branch->transport->send(branch->there(peer), id, header, payload, completion);
}

Result<RemoteKey> Junction::expose(int peer, const void* buffer, std::size_t bytes) {
  if (peer < own_nodes_) return own_->expose(peer, buffer, bytes);
  return Failure{"another job cannot read this one's memory"};
}

Post Junction::get(int peer, const RemoteKey& key, std::uint64_t remote, void* buffer, std::size_t bytes,
                   Completion* completion) noexcept {
  return own_->get(peer, key, remote, buffer, bytes, completion);
}

bool Junction::poll() noexcept {
  if (alarmed_) {
    eventfd_t count;
    alarmed_ = eventfd_read(alarm_.get(), &count) != 0;
  }
  bool progress = own_ != nullptr && own_->poll();
  for (const auto& branch : branches_) progress = branch->transport->poll() || progress;
  return progress;
}

// Whoever sleeps already when another job is joined watches it, too: one descriptor stands for all.
Arming Junction::arm(bool patient) noexcept {
  Arming all = own_ != nullptr ? own_->arm(patient) : Arming{};
  if (all.fd != watched_) {
    if (watched_ >= 0) epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, watched_, nullptr);
    watched_ = all.fd;
    all.ready = !watch(watched_) || all.ready;
  }
  all.fd = epoll_.get();
  for (const auto& branch : branches_) all.add(branch->transport->arm(patient));
  return all;
}

bool Junction::idle() const noexcept {
  return (own_ == nullptr || own_->idle()) &&
         std::ranges::all_of(branches_, [](const auto& branch) { return branch->transport->idle(); });
}

bool Junction::close(double seconds) noexcept {
  const double end = now() + seconds;
  bool closed = own_ == nullptr || own_->close(seconds);
  for (const auto& branch : branches_)
    closed = branch->transport->close(std::max(0.0, end - now())) && closed;
  return closed;
}

Transport::ReceiveBuffers Junction::receive_buffers() const noexcept {
  return own_ != nullptr ? own_->receive_buffers() : ReceiveBuffers{};
}

Transport::Traffic Junction::traffic() const noexcept {
  Traffic all = own_ != nullptr ? own_->traffic() : Traffic{};
  for (const auto& branch : branches_) {
    const Traffic one = branch->transport->traffic();
    all.messages_sent += one.messages_sent;
    all.bytes_sent += one.bytes_sent;
    all.messages_received += one.messages_received;
    all.bytes_received += one.bytes_received;
  }
  return all;
}

}  // namespace tmpi::net
