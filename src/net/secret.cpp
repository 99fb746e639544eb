#include "net/secret.hpp"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#include <algorithm>
#include <cstring>

namespace tmpi::net {

Result<void> draw_random(std::span<std::byte> bytes, RandomSource source) {
  if (source == nullptr) source = &getrandom;
  for (std::size_t drawn = 0; drawn < bytes.size();) {
    const ssize_t got = source(bytes.data() + drawn, bytes.size() - drawn, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      const int error = got < 0 ? errno : EIO;
      wipe(bytes);
      return Failure{std::string("the kernel gives no random numbers (getrandom: ") + strerror(error) +
                     "); is a system-call filter (seccomp) in the way?"};
    }
    drawn += static_cast<std::size_t>(got);
  }
  return {};
}

void wipe(std::span<std::byte> bytes) noexcept {
  if (!bytes.empty()) explicit_bzero(bytes.data(), bytes.size());
}

void wipe(std::string& text) noexcept {
  wipe(std::as_writable_bytes(std::span(text)));
  text.clear();
}

void wipe_front(std::string& text, std::size_t bytes) noexcept {
  const std::size_t rest = text.size() - bytes;
  std::memmove(text.data(), text.data() + bytes, rest);
  wipe(std::as_writable_bytes(std::span(text).subspan(rest)));
  text.resize(rest);
}

Result<Secret> Secret::draw(RandomSource source) {
  Secret secret;
  if (const Result<void> drawn = draw_random(std::as_writable_bytes(std::span(secret.bytes)), source); !drawn)
    return drawn.failure();
  if (secret.empty()) return Failure{"the kernel's random numbers are all zero: its generator is broken"};
  return secret;
}

Result<JobKey> JobKey::draw(RandomSource source) {
  JobKey key;
  if (const Result<void> drawn = draw_random(std::as_writable_bytes(std::span(&key.job, 1)), source); !drawn)
    return drawn.failure();
  Result<Secret> secret = Secret::draw(source);
  if (!secret) return secret.failure();
  key.secret = *secret;
  return key;
}

}  // namespace tmpi::net
