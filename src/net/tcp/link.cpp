#include "net/tcp/link.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "net/handshake_io.hpp"

namespace tmpi::net::tcp {
namespace {

constexpr std::size_t kMostPieces = 64;        // of one sendmsg
constexpr std::size_t kMostAtOnce = 1 << 20;   // bytes that send() gives the socket before it returns
constexpr std::size_t kFlushBudget = 1 << 20;  // and one poll(), per peer: the others want to be served, too
constexpr std::size_t kReceiveBudget = 1 << 20;
constexpr std::size_t kLookAhead = 4 << 10;           // bytes read to a buffer where large payloads come
constexpr double kSilence = 3;                        // seconds after which a peer's host counts as dead
constexpr std::uint64_t kCheckEvery = 1'000'000'000;  // nanoseconds

constexpr std::size_t kMostInline =
    1024;  // bytes of payload that are copied behind their header: cheaper than a gather

ssize_t send_bytes(int fd, const std::byte* bytes, std::size_t size) noexcept {
  ssize_t sent;
  do sent = ::send(fd, bytes, size, MSG_DONTWAIT | MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent;
}

ssize_t send_pieces(int fd, iovec* pieces, std::size_t count) noexcept {
  msghdr message{};
  message.msg_iov = pieces;
  message.msg_iovlen = count;
  ssize_t sent;
  do sent = sendmsg(fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent;
}

}  // namespace

void Link::list_as_active() noexcept {
  if (listed) return;
  listed = true;
  context_.active.push_back(this);
}

std::string Link::name() const {
  return fmt::format("node {} on host {}", peer_, host_);
}

// --- sending

Post Link::send(std::uint8_t id, std::span<const std::byte> header, std::span<const iovec> payload,
                Completion* completion) noexcept {
  if (state_ == State::kLost || state_ == State::kGone) return Post::kDone;
  std::size_t bytes = 0;
  for (const iovec& part : payload) bytes += part.iov_len;
  const bool small = bytes <= kMostBuffered;
  if (small ? queue_.copied() + bytes > kMostCopied : queue_.references() >= kMostReferences)
    return Post::kNoResource;

  std::byte head[sizeof(FrameHeader) + kMostHeader + kMostInline];
  const FrameHeader frame{FrameKind::kMessage, id, static_cast<std::uint16_t>(header.size()), 0, bytes};
  std::memcpy(head, &frame, sizeof frame);
  std::memcpy(head + sizeof frame, header.data(), header.size());
  Outgoing message{{head, sizeof frame + header.size()}, payload};
  if (bytes <= kMostInline) {
    std::byte* at = head + message.head.size();
    for (const iovec& part : payload) {
      if (part.iov_len != 0) std::memcpy(at, part.iov_base, part.iov_len);
      at += part.iov_len;
    }
    message = {{head, at}, {}};
  }
  ++context_.traffic.messages_sent;
  context_.traffic.bytes_sent += header.size() + bytes;

  const bool burst = in_burst(bytes);
  const bool free = state_ == State::kUp && writable_ && !context_.polling;
  const bool at_once = free && queue_.empty() && !burst && sealed_ == nullptr;
  if (at_once && write_at_once(message)) return Post::kDone;
  if (small) {
    queue_.copy(message);
  } else {
    queue_.refer(message, *completion);
  }
  if (state_ == State::kNone) connect();
  list_as_active();
  // Copies only: no completion is due outside poll().
  const bool flush_now = burst ? queue_.copied() >= kBurstBytes : sealed_ != nullptr;
  if (flush_now && free && queue_.references() == 0) (void)flush();
  return small ? Post::kDone : Post::kInProgress;
}

// Many small messages one after the other, with no look at the network in between: after the first few they
// leave together, a system call for several, and the last ones with the next poll().
bool Link::in_burst(std::size_t bytes) noexcept {
  if (polls_ != context_.polls) {
    polls_ = context_.polls;
    since_poll_ = 0;
  }
  return ++since_poll_ > kBurst && bytes <= kMostInline;
}

// True if all of the message has gone, or will never go. Else message.skip says what has.
bool Link::write_at_once(Outgoing& message) noexcept {
  iovec pieces[kMostPieces];
  std::size_t count = 0, bytes = message.head.size(), whole = bytes;
  pieces[count++] = {const_cast<std::byte*>(message.head.data()), message.head.size()};
  for (const iovec& part : message.payload) {
    whole += part.iov_len;
    if (count == kMostPieces || bytes >= kMostAtOnce || part.iov_len == 0) continue;
    pieces[count++] = {part.iov_base, std::min(part.iov_len, kMostAtOnce - bytes)};
    bytes += pieces[count - 1].iov_len;
  }
  unchecked_ = true;
  const ssize_t sent = count == 1 ? send_bytes(fd_.get(), message.head.data(), message.head.size())
                                  : send_pieces(fd_.get(), pieces, count);
  if (sent >= 0) {
    message.skip = static_cast<std::size_t>(sent);
    return message.skip == whole;
  }
  if (errno == EAGAIN) {
    writable_ = false;
    return false;
  }
  write_error_ = errno;
  list_as_active();
  return true;
}

// Gives the socket what it takes of the queue. True if anything went.
bool Link::flush() noexcept {
  std::size_t gone = 0;
  while (writable_ && !queue_.empty() && gone < kFlushBudget) {
    iovec pieces[kMostPieces];
    const std::size_t count = queue_.gather(pieces, kMostPieces, kFlushBudget);
    const ssize_t sent =
        sealed_ != nullptr ? send_sealed(pieces, count) : send_pieces(fd_.get(), pieces, count);
    if (sent < 0) {
      writable_ = false;
      if (errno != EAGAIN) write_error_ = errno;
      break;
    }
    unchecked_ = true;
    gone += static_cast<std::size_t>(sent);
    queue_.sent(static_cast<std::size_t>(sent));
  }
  return gone != 0;
}

// As send_pieces(): bytes that have gone as a whole. What has gone in part is the first of the next call's.
ssize_t Link::send_sealed(const iovec* pieces, std::size_t count) noexcept {
  std::size_t gone = 0;
  for (const iovec* piece = pieces; piece != pieces + count; ++piece) {
    const ssize_t sent =
        sealed_->send(fd_.get(), {static_cast<const char*>(piece->iov_base), piece->iov_len});
    if (sent < 0) return -1;
    gone += static_cast<std::size_t>(sent);
    if (static_cast<std::size_t>(sent) < piece->iov_len) break;
  }
  if (gone == 0) errno = EAGAIN;
  return gone == 0 ? -1 : static_cast<ssize_t>(gone);
}

// --- receiving

void Link::on_event(std::uint32_t events) noexcept {
  if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) readable_ = true;
  if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) hung_up_ = true;
  // Behind the end of the stream recv() says nothing of a reset.
  if ((events & (EPOLLHUP | EPOLLERR)) != 0 && closing_ && state_ == State::kUp) write_error_ = ECONNRESET;
  if ((events & EPOLLOUT) != 0) writable_ = true;
  const bool busy = readable_ || (writable_ && !queue_.empty());
  if (state_ == State::kConnecting || state_ == State::kHandshaking || (state_ == State::kUp && busy))
    list_as_active();
}

void Link::peek() noexcept {
  if (state_ != State::kUp) return;
  readable_ = true;
  list_as_active();
}

bool Link::work() noexcept {
  const State before = state_;
  bool progress = false;
  if (state_ == State::kConnecting || state_ == State::kHandshaking) progress = continue_connecting();
  if (state_ != State::kUp) return progress;
  // What the peer has said last decides what an error of sending means: all of it is read first, and an error
  // of the flush below waits for the next time.
  const bool failed = write_error_ != 0;
  if (failed) readable_ = true;
  if (readable_) progress = (sealed_ != nullptr ? receive_sealed() : receive()) || progress;
  if (state_ == State::kUp && !failed) progress = flush() || progress;
  if (state_ == State::kUp && failed && !readable_) stream_ended(write_error_);
  if (state_ == State::kUp && (readable_ || write_error_ != 0 || (writable_ && !queue_.empty())))
    list_as_active();
  return progress || state_ != before;
}

bool Link::receive_sealed() noexcept {
  bool progress = false;
  for (std::size_t budget = kReceiveBudget; readable_ && budget > 0 && state_ == State::kUp;) {
    std::string& opened = context_.opened;
    opened.clear();
    const ssize_t got = sealed_->receive(fd_.get(), opened);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EBADMSG) {
      lose(fmt::format("what came from {} was not sent by it, or was changed on the way", name()));
      return true;
    }
    if (got <= 0) {
      readable_ = false;
      if (got == 0 || errno != EAGAIN) stream_ended(got == 0 ? 0 : errno);
      return progress;
    }
    progress = true;
    context_.recent = this;
    budget -= std::min(budget, static_cast<std::size_t>(got));
    if (!closing_) understand(std::as_bytes(std::span(opened)));
  }
  return progress;
}

// Small messages are read many at a time. A peer that has sent a large payload most likely sends another one:
// little is then read before the parser has seen where the payload belongs, since that little is copied
// twice.
bool Link::receive() noexcept {
  bool progress = false;
  for (std::size_t budget = kReceiveBudget; readable_ && budget > 0 && state_ == State::kUp;) {
    // Once this end is closing, whoever posted the landings may be gone.
    iovec pieces[2] = {closing_ ? iovec{} : parser_.direct(), {context_.buffer.data(), 0}};
    const std::size_t direct = pieces[0].iov_len = std::min(pieces[0].iov_len, budget);
    const std::size_t aside = pieces[1].iov_len =
        direct != 0 || large_expected_ ? kLookAhead : context_.buffer.size();
    const ssize_t got =
        direct != 0 ? readv(fd_.get(), pieces, 2) : recv(fd_.get(), context_.buffer.data(), aside, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      readable_ = false;
      if (got == 0 || errno != EAGAIN) stream_ended(got == 0 ? 0 : errno);
      return progress;
    }
    progress = true;
    context_.recent = this;
    const auto bytes = static_cast<std::size_t>(got);
    // A short read has emptied the socket: what comes later is a new event. Not so the end of the stream.
    if (bytes < direct + aside && !hung_up_) readable_ = false;
    budget -= std::min(budget, bytes);
    if (closing_) continue;
    // First to where direct() wanted it, the rest to the buffer.
    if (direct != 0) parser_.took_direct(std::min(direct, bytes));
    if (bytes > direct) understand({context_.buffer.data(), bytes - direct});
    if (parser_.direct().iov_len != 0) {
      large_expected_ = true;
    } else if (direct == 0 && bytes == aside) {
      large_expected_ = false;
    }
  }
  return progress;
}

// Hands on the next bytes of the stream.
void Link::understand(std::span<const std::byte> bytes) noexcept {
  if (!parser_.take(bytes)) return lose(fmt::format("{} sent what is not the protocol of tmpi", name()));
  if (parser_.said_goodbye()) stream_ended(0);
}

// --- the end of the connection

void Link::stream_ended(int error) noexcept {
  if (closing_ && error == 0) return;  // the peer sends no more; it may still read
  if (closing_ || parser_.said_goodbye()) {
    become_gone();
    return;
  }
  lose(fmt::format("the connection to {} {}: its process has probably died", name(),
                   error == 0 ? "was closed" : fmt::format("failed ({})", std::strerror(error))));
}

void Link::become_gone() noexcept {
  state_ = State::kGone;
  handshake_.reset();
  fd_.reset();
  queue_.drop();
}

void Link::lose(const std::string& why) noexcept {
  if (state_ == State::kLost || state_ == State::kGone) return;
  state_ = State::kLost;
  handshake_.reset();
  fd_.reset();
  if (!closing_) context_.sink->lost(peer_, why);
  queue_.drop();
}

std::uint64_t Link::next_time() const noexcept {
  const bool waiting = state_ == State::kConnecting || state_ == State::kPausing ||
                       state_ == State::kAwaiting || (state_ == State::kUp && unchecked_);
  return waiting ? deadline_ : kNever;
}

void Link::on_time(std::uint64_t now) noexcept {
  if (state_ != State::kUp) return on_connect_time();
  deadline_ = now + kCheckEvery;
  unchecked_ = !queue_.empty() || has_unacknowledged(fd_.get());
  if (unchecked_ && peer_is_silent(fd_.get(), kSilence))
    lose(fmt::format("{} has not answered for {} s: the host or the network between is down", name(),
                     kSilence));
}

void Link::begin_close() noexcept {
  closing_ = true;
  if (state_ != State::kUp && queue_.empty()) return;
  const FrameHeader goodbye{FrameKind::kGoodbye, 0, 0, 0, 0};
  queue_.copy({std::as_bytes(std::span(&goodbye, 1)), {}});
  list_as_active();
}

bool Link::closed() noexcept {
  if (state_ == State::kGone || state_ == State::kLost) return true;
  return queue_.empty() && (state_ != State::kUp || !has_unacknowledged(fd_.get()));
}

void Link::end_close() noexcept {
  if (fd_) shutdown(fd_.get(), SHUT_WR);
  become_gone();
}

}  // namespace tmpi::net::tcp
