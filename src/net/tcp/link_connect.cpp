// Link's way to a connection: connects, shakes hands, tries another address or once more, or is connected to.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include "net/handshake_io.hpp"
#include "net/tcp/link.hpp"

namespace tmpi::net::tcp {
namespace {

constexpr std::uint64_t kConnectLimit = 3'000'000'000;  // nanoseconds; for a host that does not answer
constexpr std::uint64_t kPause = 50'000'000;
constexpr std::uint64_t kAwaitingLimit = 1'000'000'000;  // then asks again: the peer may have died
constexpr int kMostPauses = 60;

std::string reason_of(int error) {
  if (error == EMFILE)
    return "this node process has no free file descriptors: raise `ulimit -n`, or close files in the program";
  return std::strerror(error);
}

}  // namespace

void Link::set_peer(std::string host, std::vector<Endpoint> addresses) {
  host_ = std::move(host);
  addresses_ = std::move(addresses);
}

void Link::connect() noexcept {
  state_ = State::kConnecting;
  deadline_ = nanoseconds_now() + kConnectLimit;
  error_at_once_ = 0;
  fd_ = connect_to(addresses_[attempt_], error_at_once_);
  if (!fd_) return list_as_active();
  readable_ = writable_ = hung_up_ = false;
  context_.watch(EPOLL_CTL_ADD, fd_.get(), EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                 make_tag(Party::kLink, static_cast<std::uint32_t>(peer_)));
  // On one machine it is connected by now; the hello then goes out even if this process does not call
  // poll() for a while.
  const int error = connect_state(fd_.get());
  if (error == EINPROGRESS) return;
  if (error != 0) {
    fd_.reset();
    error_at_once_ = error;
    return list_as_active();
  }
  state_ = State::kHandshaking;
  handshake_ = std::make_unique<Handshake>(Handshake::initiate(context_.self, peer_));
  pump(fd_.get(), *handshake_);
}

bool Link::continue_connecting() noexcept {
  if (!fd_) {
    attempt_failed(reason_of(error_at_once_), is_shortage(error_at_once_));
    return true;
  }
  if (state_ == State::kConnecting) {
    const int error = connect_state(fd_.get());
    if (error == EINPROGRESS) return false;
    if (error != 0) {
      attempt_failed(std::strerror(error), false);
      return true;
    }
    state_ = State::kHandshaking;
    handshake_ = std::make_unique<Handshake>(Handshake::initiate(context_.self, peer_));
  }
  pump(fd_.get(), *handshake_);
  if (handshake_->state() == Handshake::State::kAccepted) {
    establish();
    return true;
  }
  if (handshake_->state() != Handshake::State::kRefused) return false;
  if (handshake_->refusal() == Refusal::kNotNow && handshake_->refused_by_peer()) {
    state_ = State::kAwaiting;
    deadline_ = nanoseconds_now() + kAwaitingLimit;
    fd_.reset();
    handshake_.reset();
    return true;
  }
  if (handshake_->refusal() == Refusal::kEnded && handshake_->refused_by_peer()) {
    become_gone();
    return true;
  }
  attempt_failed(handshake_->message(), handshake_->refusal() == Refusal::kClosed);
  return true;
}

// Another address, or the same ones again if the reason may pass (the peer was busy with strangers, there was
// no descriptor), or the peer is lost.
void Link::attempt_failed(std::string why, bool may_pass) noexcept {
  fd_.reset();
  handshake_.reset();
  trouble_ += fmt::format("{}{}: {}", trouble_.empty() ? "" : "; ", addresses_[attempt_].text(), why);
  if (may_pass && ++pauses_ < kMostPauses) {
    trouble_.clear();
    state_ = State::kPausing;
    deadline_ = nanoseconds_now() + kPause;
    return;
  }
  if (++attempt_ < addresses_.size()) return connect();
  lose(fmt::format("cannot connect to {} ({})", name(), trouble_));
}

void Link::on_connect_time() noexcept {
  if (state_ == State::kConnecting) {
    // It may be this process that has stood still all the time, and not the other host.
    const int error = fd_ ? connect_state(fd_.get()) : 0;
    if (error == 0) return list_as_active();
    return attempt_failed(error == EINPROGRESS ? "no answer" : std::strerror(error), false);
  }
  attempt_ = 0;
  trouble_.clear();
  connect();
}

Objection Link::objection() const noexcept {
  if (closing_ || state_ == State::kGone) return {Refusal::kEnded, "it is ending"};
  if (state_ == State::kLost) return {Refusal::kUnwanted, "it has lost this node before"};
  if (state_ == State::kUp) return {Refusal::kNotNow, "it has a connection already"};
  const bool own_attempt = state_ == State::kConnecting || state_ == State::kHandshaking;
  if (own_attempt && context_.self.node < peer_) return {Refusal::kNotNow, "it is connecting itself"};
  return {};
}

void Link::adopt(Fd fd) noexcept {
  fd_ = std::move(fd);
  handshake_.reset();
  context_.watch(EPOLL_CTL_MOD, fd_.get(), EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                 make_tag(Party::kLink, static_cast<std::uint32_t>(peer_)));
  establish();
}

void Link::establish() noexcept {
  handshake_.reset();
  const Identity& self = context_.self;
  if (self.role == Role::kSealedPeer)
    sealed_ = std::make_unique<SealedStream>(self.secret, self.role, self.node, peer_);
  state_ = State::kUp;
  readable_ = writable_ = true;  // both were perhaps said before anybody listened
  list_as_active();
}

}  // namespace tmpi::net::tcp
