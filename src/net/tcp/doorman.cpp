#include "net/tcp/doorman.hpp"

#include <algorithm>
#include <cerrno>

#include "net/handshake_io.hpp"

namespace tmpi::net::tcp {
namespace {
constexpr std::uint64_t kPause = 100'000'000;
constexpr int kAcceptsAtOnce = 16;  // whoever knocks without end must not keep the node from its work
}  // namespace

Result<void> Doorman::listen(const std::vector<LocalAddress>& addresses, const Settings& settings) {
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

void Doorman::on_listener(std::uint32_t index) noexcept {
  for (int i = 0; i < kAcceptsAtOnce; ++i) {
    Fd fd(accept4(listeners_[index].get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) {
      if (is_shortage(errno)) pause_listening(true);
      return;
    }
    set_options(fd.get(), endpoints_[index].is_loopback());
    const std::uint32_t place = free_place();
    if (!context_.watch(EPOLL_CTL_ADD, fd.get(), EPOLLIN | EPOLLRDHUP, make_tag(Party::kCaller, place)))
      continue;
    callers_[place].emplace(
        Caller{std::move(fd), Handshake::answer(context_.self), nanoseconds_now() + kPatience});
    ++present_;
    on_caller(place);  // most say who they are at once
  }
}

std::uint32_t Doorman::free_place() noexcept {
  const auto by_time = [](const std::optional<Caller>& a, const std::optional<Caller>& b) {
    return (a ? a->deadline : 0) < (b ? b->deadline : 0);
  };
  const auto place = std::min_element(callers_.begin(), callers_.end(), by_time);
  if (*place) {
    place->reset();
    --present_;
  }
  return static_cast<std::uint32_t>(place - callers_.begin());
}

void Doorman::on_caller(std::uint32_t index) noexcept {
  std::optional<Caller>& caller = callers_[index];
  if (!caller) return;  // sent away since the event
  pump(caller->fd.get(), caller->handshake);
  if (caller->handshake.state() == Handshake::State::kRunning) return;
  if (caller->handshake.state() == Handshake::State::kClaimed) decide(*caller);
  if (caller->fd) close_politely(caller->fd.release());
  caller.reset();
  --present_;
}

void Doorman::decide(Caller& caller) noexcept {
  const int peer = caller.handshake.peer();
  const Objection objection = master_.objection(peer);
  if (objection.refusal != Refusal::kNone) {
    caller.handshake.refuse(objection.sentence, objection.refusal);
    return pump(caller.fd.get(), caller.handshake);
  }
  caller.handshake.accept();
  pump(caller.fd.get(), caller.handshake);
  // A few hundred bytes on a new connection always find room, unless the connection has died.
  if (caller.handshake.state() == Handshake::State::kAccepted && caller.handshake.finished())
    master_.welcome(peer, std::move(caller.fd));
}

void Doorman::sweep(std::uint64_t now) noexcept {
  if (paused_until_ <= now) pause_listening(false);
  if (present_ == 0) return;
  for (std::optional<Caller>& caller : callers_) {
    if (!caller || caller->deadline > now) continue;
    caller.reset();
    --present_;
  }
}

std::uint64_t Doorman::next_time() const noexcept {
  std::uint64_t next = paused_until_;
  if (present_ == 0) return next;
  for (const std::optional<Caller>& caller : callers_)
    if (caller) next = std::min(next, caller->deadline);
  return next;
}

// Without descriptors nobody can be let in, and a door at which somebody stands would keep the node awake.
void Doorman::pause_listening(bool pause) noexcept {
  paused_until_ = pause ? nanoseconds_now() + kPause : kNever;
  const std::uint32_t events = pause ? 0 : static_cast<std::uint32_t>(EPOLLIN);
  for (std::size_t i = 0; i < listeners_.size(); ++i)
    context_.watch(EPOLL_CTL_MOD, listeners_[i].get(), events,
                   make_tag(Party::kListener, static_cast<std::uint32_t>(i)));
}

}  // namespace tmpi::net::tcp
