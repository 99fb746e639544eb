#include "launch/system/key_pipe.hpp"

#include <errno.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace tmpi::launch {
namespace {

using Bytes = std::array<std::byte, sizeof(net::JobKey::job) + sizeof(net::Secret::bytes)>;

}  // namespace

Result<Fd> put_key(const net::JobKey& key) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Failure{fmt::format("cannot create a pipe: {}", strerror(errno))};
  Fd out(ends[0]), in(ends[1]);
  Bytes bytes;
  std::memcpy(bytes.data(), &key.job, sizeof key.job);
  std::memcpy(bytes.data() + sizeof key.job, key.secret.bytes.data(), key.secret.bytes.size());
  const ssize_t written = write(in.get(), bytes.data(), bytes.size());  // an empty pipe takes it at once
  net::wipe(bytes);
  if (written != static_cast<ssize_t>(bytes.size()))
    return Failure{"cannot hand over the job's key through a pipe"};
  fcntl(out.get(), F_SETFD, 0);
  return out;
}

Result<net::JobKey> take_key(Fd pipe) {
  Bytes bytes{};
  pollfd request{pipe.get(), POLLIN, 0};
  const bool there = poll(&request, 1, 0) == 1 && (request.revents & POLLIN) != 0;
  const ssize_t got = there ? read(pipe.get(), bytes.data(), bytes.size()) : -1;
  if (got != static_cast<ssize_t>(bytes.size())) {
    net::wipe(bytes);
    return Failure{"there is no key in the pipe that was named"};
  }
  net::JobKey key;
  std::memcpy(&key.job, bytes.data(), sizeof key.job);
  std::memcpy(key.secret.bytes.data(), bytes.data() + sizeof key.job, key.secret.bytes.size());
  net::wipe(bytes);
  if (key.secret.empty()) return Failure{"the key in the pipe that was named is empty"};
  return key;
}

}  // namespace tmpi::launch
