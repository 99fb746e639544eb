#include "net/tcp/acceptor.hpp"

#include <algorithm>
#include <cerrno>

#include "net/handshake_io.hpp"

namespace tmpi::net::tcp {
namespace {
constexpr std::uint64_t kPause = 100'000'000;
constexpr int kAcceptsAtOnce = 16;  // a flood of connections must not keep the node from its work
}  // namespace

Result<void> Acceptor::listen(const std::vector<LocalAddress>& addresses, const Settings& settings) {
  Result<void> listening = Failure{"tcp has no address to listen at"};
  for (const LocalAddress& local : addresses) {
    Endpoint endpoint = local.endpoint;
    Result<Fd> fd = listen_at(endpoint, settings);
    if (!fd) {
      listening = endpoints_.empty() ? Result<void>(fd.failure()) : listening;
      continue;
    }
    const auto index = static_cast<std::uint32_t>(listeners_.size());
    context_.watch(EPOLL_CTL_ADD, fd->get(), EPOLLIN, make_tag(Party::kListener, index));
    listeners_.push_back(*std::move(fd));
    endpoints_.push_back(endpoint);
  }
  return endpoints_.empty() ? listening : Result<void>();
}

void Acceptor::on_listener(std::uint32_t index) noexcept {
  for (int i = 0; i < kAcceptsAtOnce; ++i) {
    Fd fd(accept4(listeners_[index].get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) {
      if (is_shortage(errno)) pause_listening(true);
      return;
    }
    set_options(fd.get(), endpoints_[index].is_loopback());
    const std::uint32_t place = free_place();
    if (!context_.watch(EPOLL_CTL_ADD, fd.get(), EPOLLIN | EPOLLRDHUP, make_tag(Party::kPending, place)))
      continue;
    pending_[place].emplace(
        PendingConnection{std::move(fd), Handshake::answer(context_.self), nanoseconds_now() + kPatience});
    ++present_;
    on_pending(place);  // most have sent their hello already
  }
}

std::uint32_t Acceptor::free_place() noexcept {
  const auto by_time = [](const std::optional<PendingConnection>& a,
                          const std::optional<PendingConnection>& b) {
    return (a ? a->deadline : 0) < (b ? b->deadline : 0);
  };
  const auto place = std::min_element(pending_.begin(), pending_.end(), by_time);
  if (*place) {
    place->reset();
    --present_;
  }
  return static_cast<std::uint32_t>(place - pending_.begin());
}

void Acceptor::on_pending(std::uint32_t index) noexcept {
  std::optional<PendingConnection>& pending = pending_[index];
  if (!pending) return;  // closed since the event
  pump(pending->fd.get(), pending->handshake);
  if (pending->handshake.state() == Handshake::State::kRunning) return;
  if (pending->handshake.state() == Handshake::State::kClaimed) decide(*pending);
  if (pending->fd) close_politely(pending->fd.release());
  pending.reset();
  --present_;
}

void Acceptor::decide(PendingConnection& pending) noexcept {
  const int peer = pending.handshake.peer();
  const Objection objection = owner_.objection(peer);
  if (objection.refusal != Refusal::kNone) {
    pending.handshake.refuse(objection.sentence, objection.refusal);
    return pump(pending.fd.get(), pending.handshake);
  }
  pending.handshake.accept();
  pump(pending.fd.get(), pending.handshake);
  // A few hundred bytes on a new connection always find room, unless the connection has died.
  if (pending.handshake.state() == Handshake::State::kAccepted && pending.handshake.finished())
    owner_.connected(peer, std::move(pending.fd));
}

void Acceptor::sweep(std::uint64_t now) noexcept {
  if (paused_until_ <= now) pause_listening(false);
  if (present_ == 0) return;
  for (std::optional<PendingConnection>& pending : pending_) {
    if (!pending || pending->deadline > now) continue;
    pending.reset();
    --present_;
  }
}

std::uint64_t Acceptor::next_time() const noexcept {
  std::uint64_t next = paused_until_;
  if (present_ == 0) return next;
  for (const std::optional<PendingConnection>& pending : pending_)
    if (pending) next = std::min(next, pending->deadline);
  return next;
}

// Without descriptors nothing can be accepted, and a listener that stays readable would keep the node awake.
void Acceptor::pause_listening(bool pause) noexcept {
  paused_until_ = pause ? nanoseconds_now() + kPause : kNever;
  const std::uint32_t events = pause ? 0 : static_cast<std::uint32_t>(EPOLLIN);
  for (std::size_t i = 0; i < listeners_.size(); ++i)
    context_.watch(EPOLL_CTL_MOD, listeners_[i].get(), events,
                   make_tag(Party::kListener, static_cast<std::uint32_t>(i)));
}

}  // namespace tmpi::net::tcp
