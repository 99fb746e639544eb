#include "launch/wire/channel.hpp"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/secret.hpp"

namespace tmpi::launch {
namespace {

constexpr std::size_t kReadSize = 256 << 10;

}  // namespace

void Channel::seal(const net::Secret& job, int own, int other) {
  sealed_ = std::make_unique<net::SealedStream>(job, net::Role::kControl, own, other);
}

void Channel::seal_again(std::string_view state) {
  sealed_ = std::make_unique<net::SealedStream>(state);
}

void Channel::close() {
  in_.reset();
  out_.reset();
  unsent_.clear();
}

ssize_t Channel::write(std::string_view frames) noexcept {
  if (sealed_ != nullptr) return sealed_->send(out(), frames);
  if (out_) return ::write(out_.get(), frames.data(), frames.size());
  return ::send(in_.get(), frames.data(), frames.size(), MSG_NOSIGNAL);
}

void Channel::send(FrameType type, int rank, std::uint16_t detail, std::string_view payload) {
  if (!in_) return;
  append_frame(unsent_, type, rank, detail, payload);
  flush();
}

bool Channel::flush() {
  while (!unsent_.empty()) {
    const ssize_t done = write(unsent_);
    if (done == 0 || (done < 0 && errno == EAGAIN)) return true;
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) {
      unsent_.clear();
      return false;
    }
    net::wipe_front(unsent_, static_cast<std::size_t>(done));
  }
  return true;
}

// What comes before it is of the same kind as what the remote shell says on stderr.
void Channel::find_preamble(std::string_view bytes) {
  *noise_ += bytes;
  const std::size_t at = noise_->find(kPreamble);
  if (at == std::string::npos) return;
  frames_.add(std::string_view(*noise_).substr(at + sizeof(kPreamble) - 1));
  noise_->resize(at);
  noise_ = nullptr;
}

// As read().
ssize_t Channel::receive_sealed() {
  std::string opened;
  const ssize_t got = sealed_->receive(in_.get(), opened);
  forged_ = got < 0 && errno == EBADMSG;
  frames_.add(opened);
  return forged_ ? 1 : got;
}

Channel::Received Channel::receive() {
  ssize_t got = 0;
  if (sealed_ != nullptr) {
    got = receive_sealed();
  } else {
    char* const room = frames_.room(kReadSize);
    got = read(in_.get(), room, kReadSize);
    if (got > 0 && noise_ != nullptr)
      find_preamble(std::string(room, static_cast<std::size_t>(got)));
    else if (got > 0)
      frames_.filled(static_cast<std::size_t>(got));
  }
  if (got > 0) return Received::kSomething;
  return got < 0 && (errno == EAGAIN || errno == EINTR) ? Received::kNothing : Received::kEnd;
}

}  // namespace tmpi::launch
