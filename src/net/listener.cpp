#include "net/listener.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <tuple>

#include "net/handshake_io.hpp"

namespace tmpi::net {
namespace {

constexpr std::chrono::milliseconds kPause{100};

using State = Handshake::State;

}  // namespace

bool is_shortage(int error) noexcept {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

void Listener::add(Fd socket) {
  sockets_.push_back(std::move(socket));
  pending_.resize(limits_.pending);  // once: on_socket() does not allocate
}

void Listener::on_socket(std::size_t index) noexcept {
  for (std::size_t i = 0; i < limits_.accepted_at_once; ++i) {
    Fd fd(accept4(sockets_[index].get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) {
      if (is_shortage(errno)) on_shortage();
      return;
    }
    const std::size_t place = free_place();
    const std::optional<Handshake> handshake = owner_.begin(fd.get(), index, place);
    if (!handshake) continue;
    const auto now = Clock::now();
    pending_[place].emplace(Pending{std::move(fd), *handshake, now, now + limits_.patience});
    ++present_;
    on_pending(place);  // most have sent their hello already
  }
}

void Listener::forget(std::size_t place) noexcept {
  pending_[place].reset();
  --present_;
}

// Whoever has said who it is waits for this end; if all have, the oldest of these, who have proved nothing yet either.
std::size_t Listener::first_to_yield() const noexcept {
  const auto rank = [](const std::optional<Pending>& pending) {
    if (!pending) return std::tuple(2, Clock::time_point());
    return std::tuple(pending->handshake.state() == State::kNamed ? 1 : 0, pending->came);
  };
  const auto first = std::ranges::min_element(pending_, {}, rank);
  return static_cast<std::size_t>(first - pending_.begin());
}

std::size_t Listener::free_place() noexcept {
  if (present_ < pending_.size()) {
    const auto empty = std::ranges::find_if(pending_, [](const auto& pending) { return !pending; });
    return static_cast<std::size_t>(empty - pending_.begin());
  }
  const std::size_t place = first_to_yield();
  forget(place);
  return place;
}

// What waits to be accepted would wake the owner again and again. Who connects in earnest has completed the handshake
// before a pause has passed.
void Listener::on_shortage() noexcept {
  const auto now = Clock::now();
  if (present_ > 0) {
    const std::size_t place = first_to_yield();
    if (now - pending_[place]->came > kPause) return forget(place);
  }
  paused_until_ = now + kPause;
  owner_.watch_sockets(false);
}

void Listener::on_pending(std::size_t place) noexcept {
  std::optional<Pending>& pending = pending_[place];
  if (!pending) return;  // closed since the event
  Handshake& handshake = pending->handshake;
  pump(pending->fd.get(), handshake);
  if (handshake.state() == State::kNamed) {
    owner_.named(*pending);
    if (handshake.state() != State::kNamed) pump(pending->fd.get(), handshake);
  }
  if (handshake.state() == State::kRunning || handshake.state() == State::kNamed) return;
  if (handshake.state() == State::kClaimed) decide(*pending);
  if (pending->fd) close_politely(std::move(pending->fd));
  forget(place);
}

void Listener::decide(Pending& pending) noexcept {
  const Objection objection = owner_.objection(pending.handshake);
  if (objection.refusal != Refusal::kNone) {
    pending.handshake.refuse(objection.sentence, objection.refusal);
    return pump(pending.fd.get(), pending.handshake);
  }
  pending.handshake.accept();
  pump(pending.fd.get(), pending.handshake);
  // A few hundred bytes on a new connection always find room, unless the connection has died.
  if (pending.handshake.state() == State::kAccepted && pending.handshake.finished())
    owner_.connected(pending);
}

void Listener::on_secrets() noexcept {
  for (std::size_t place = 0; place < pending_.size(); ++place) {
    if (pending_[place] && pending_[place]->handshake.state() == State::kNamed) on_pending(place);
  }
}

void Listener::sweep(Clock::time_point now) noexcept {
  if (paused_until_ && *paused_until_ <= now) {
    paused_until_.reset();
    owner_.watch_sockets(true);
  }
  if (present_ == 0) return;
  for (std::size_t place = 0; place < pending_.size(); ++place) {
    if (pending_[place] && pending_[place]->deadline <= now) forget(place);
  }
}

std::optional<Listener::Clock::time_point> Listener::next_time() const noexcept {
  std::optional<Clock::time_point> next = paused_until_;
  if (present_ == 0) return next;
  for (const std::optional<Pending>& pending : pending_) {
    if (pending && (!next || pending->deadline < *next)) next = pending->deadline;
  }
  return next;
}

void Listener::extend(Clock::duration pause) noexcept {
  for (std::optional<Pending>& pending : pending_) {
    if (pending) pending->deadline += pause;
  }
}

}  // namespace tmpi::net
