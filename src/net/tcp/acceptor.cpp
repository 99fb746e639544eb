#include "net/tcp/acceptor.hpp"

#include <utility>

namespace tmpi::net::tcp {

Result<void> Acceptor::listen(const std::vector<LocalAddress>& addresses, const Settings& settings) {
  Result<void> listening = Failure{"tcp has no address to listen at"};
  for (const LocalAddress& local : addresses) {
    Endpoint endpoint = local.endpoint;
    Result<Fd> fd = listen_at(endpoint, settings);
    if (!fd) {
      listening = endpoints_.empty() ? Result<void>(fd.failure()) : listening;
      continue;
    }
    const auto index = static_cast<std::uint32_t>(listener_.sockets());
    context_.watch(EPOLL_CTL_ADD, fd->get(), EPOLLIN, make_tag(Party::kListener, index));
    listener_.add(*std::move(fd));
    endpoints_.push_back(endpoint);
  }
  return endpoints_.empty() ? listening : Result<void>();
}

std::optional<Handshake> Acceptor::begin(int fd, std::size_t socket, std::size_t place) noexcept {
  set_options(fd, endpoints_[socket].is_loopback());
  const std::uint64_t tag = make_tag(Party::kPending, static_cast<std::uint32_t>(place));
  if (!context_.watch(EPOLL_CTL_ADD, fd, EPOLLIN | EPOLLRDHUP, tag)) return {};
  return Handshake::answer(context_.self);
}

Objection Acceptor::objection(const Handshake& handshake) noexcept {
  return owner_.objection(handshake.peer());
}

void Acceptor::connected(Listener::Pending& pending) noexcept {
  owner_.connected(pending.handshake.peer(), std::move(pending.fd));
}

void Acceptor::sweep(std::uint64_t now) noexcept {
  listener_.sweep(Listener::Clock::time_point(std::chrono::nanoseconds(now)));
}

std::uint64_t Acceptor::next_time() const noexcept {
  const auto next = listener_.next_time();
  return next ? static_cast<std::uint64_t>(next->time_since_epoch().count()) : kNever;
}

// A listener that stays readable would keep the node awake.
void Acceptor::watch_sockets(bool watch) noexcept {
  for (std::size_t i = 0; i < listener_.sockets(); ++i)
    context_.watch(EPOLL_CTL_MOD, listener_.socket(i), watch ? static_cast<std::uint32_t>(EPOLLIN) : 0,
                   make_tag(Party::kListener, static_cast<std::uint32_t>(i)));
}

}  // namespace tmpi::net::tcp
