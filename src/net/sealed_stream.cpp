#include "net/sealed_stream.hpp"

#include <errno.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>

#include "net/proof.hpp"

namespace tmpi::net {
namespace {

constexpr std::size_t kHeader = crypto_secretstream_xchacha20poly1305_HEADERBYTES;
constexpr std::size_t kOverhead = crypto_secretstream_xchacha20poly1305_ABYTES;
constexpr std::size_t kLength = sizeof(std::uint32_t);
constexpr std::size_t kMostPlain = 64u << 10;  // of a piece
static_assert(crypto_secretstream_xchacha20poly1305_KEYBYTES == 32);

unsigned char* bytes_of(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

// Of what `from` says to `to`; both ends compute the same.
Secret key_of(const Secret& job, Role role, std::int32_t from, std::int32_t to) {
  struct {
    char purpose[20] = "tmpi sealed stream";
    std::int32_t role, from, to;
  } const statement{.role = static_cast<std::int32_t>(role), .from = from, .to = to};
  Secret key;
  const Proof derived = prove(job, std::as_bytes(std::span(&statement, 1)));
  std::copy(derived.begin(), derived.end(), key.bytes.begin());
  return key;
}

}  // namespace

SealedStream::SealedStream(const Secret& job, Role role, std::int32_t own, std::int32_t peer)
    : out_(kHeader, '\0'), receiving_key_(key_of(job, role, peer, own)) {
  prepare_proofs();
  const Secret sending = key_of(job, role, own, peer);
  crypto_secretstream_xchacha20poly1305_init_push(&sending_, bytes_of(out_), sending.bytes.data());
}

std::string SealedStream::state() const {
  std::string state(sizeof sending_ + sizeof receiving_, '\0');
  std::memcpy(state.data(), &sending_, sizeof sending_);
  std::memcpy(state.data() + sizeof sending_, &receiving_, sizeof receiving_);
  return state + in_;
}

SealedStream::SealedStream(std::string_view state) : sending_{}, receiving_{}, header_known_(true) {
  prepare_proofs();
  broken_ = state.size() < sizeof sending_ + sizeof receiving_;
  if (broken_) return;
  std::memcpy(&sending_, state.data(), sizeof sending_);
  std::memcpy(&receiving_, state.data() + sizeof sending_, sizeof receiving_);
  in_ = state.substr(sizeof sending_ + sizeof receiving_);
}

void SealedStream::seal(std::string_view plain) {
  const auto length = static_cast<std::uint32_t>(plain.size() + kOverhead);
  const std::size_t begin = out_.size();
  out_.resize(begin + kLength + length);
  for (std::size_t i = 0; i < kLength; ++i) out_[begin + i] = static_cast<char>(length >> 8 * i);
  crypto_secretstream_xchacha20poly1305_push(&sending_, bytes_of(out_) + begin + kLength, nullptr,
                                             reinterpret_cast<const unsigned char*>(plain.data()),
                                             plain.size(), nullptr, 0,
                                             crypto_secretstream_xchacha20poly1305_TAG_MESSAGE);
  sealed_ = plain.size();
}

ssize_t SealedStream::send(int socket, std::string_view plain) noexcept {
  std::size_t gone = 0;
  while (gone < plain.size()) {
    if (sealed_ == 0) seal(plain.substr(gone, kMostPlain));
    const ssize_t done = ::send(socket, out_.data(), out_.size(), MSG_NOSIGNAL);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0 && errno == EAGAIN) break;
    if (done < 0) return -1;
    out_.erase(0, static_cast<std::size_t>(done));
    if (out_.empty()) gone += std::exchange(sealed_, 0);
  }
  return static_cast<ssize_t>(gone);
}

ssize_t SealedStream::receive(int socket, std::string& plain) {
  if (broken_) return errno = EBADMSG, -1;
  const std::size_t before = in_.size();
  in_.resize(before + kLength + kMostPlain + kOverhead);
  const ssize_t got = recv(socket, in_.data() + before, in_.size() - before, 0);
  in_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  if (got > 0 && !open_pieces(plain)) {
    broken_ = true;
    errno = EBADMSG;
    return -1;
  }
  return got;
}

bool SealedStream::open_pieces(std::string& plain) {
  std::size_t taken = 0;
  if (!header_known_) {
    if (in_.size() < kHeader) return true;
    if (crypto_secretstream_xchacha20poly1305_init_pull(&receiving_, bytes_of(in_),
                                                        receiving_key_.bytes.data()) != 0)
      return false;
    header_known_ = true;
    taken = kHeader;
  }
  while (in_.size() - taken >= kLength) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < kLength; ++i)
      length |= static_cast<std::size_t>(static_cast<unsigned char>(in_[taken + i])) << 8 * i;
    if (length <= kOverhead || length > kMostPlain + kOverhead) return false;
    if (in_.size() - taken - kLength < length) break;
    const std::size_t begin = plain.size();
    plain.resize(begin + length - kOverhead);
    if (crypto_secretstream_xchacha20poly1305_pull(&receiving_, bytes_of(plain) + begin, nullptr, nullptr,
                                                   bytes_of(in_) + taken + kLength, length, nullptr,
                                                   0) != 0) {
      plain.resize(begin);
      return false;
    }
    taken += kLength + length;
  }
  in_.erase(0, taken);
  return true;
}

}  // namespace tmpi::net
