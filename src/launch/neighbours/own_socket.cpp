#include "launch/neighbours/own_socket.hpp"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <utility>

namespace tmpi::launch {
namespace {

constexpr int kBacklog = 128;

Fd stream_socket(int flags) noexcept {
  return Fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
}

sockaddr_un address_of(const Fd& directory, const std::string& file) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  fmt::format_to_n(address.sun_path, sizeof address.sun_path - 1, "/proc/self/fd/{}/{}", directory.get(),
                   file);
  return address;
}

bool same_user(const Fd& socket) noexcept {
  ucred peer{};
  socklen_t length = sizeof peer;
  return getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == geteuid();
}

// Closing it may change errno.
Fd failed(int error, Fd socket) noexcept {
  socket.reset();
  errno = error;
  return {};
}

}  // namespace

Fd listen_at(const Fd& directory, const std::string& file) {
  Fd socket = stream_socket(SOCK_NONBLOCK);
  const sockaddr_un address = address_of(directory, file);
  if (socket && bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      listen(socket.get(), kBacklog) == 0)
    return socket;
  return failed(errno, std::move(socket));
}

Fd accept_own(const Fd& listener) noexcept {
  for (;;) {
    Fd fd(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd && errno == EINTR) continue;
    if (!fd || same_user(fd)) return fd;
  }
}

Fd connect_to(const Fd& directory, const std::string& file, Waiting waiting) {
  Fd socket = stream_socket(waiting == Waiting::kNever ? SOCK_NONBLOCK : 0);
  const sockaddr_un address = address_of(directory, file);
  if (!socket || connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return failed(errno, std::move(socket));
  return same_user(socket) ? std::move(socket) : failed(EPERM, std::move(socket));
}

std::vector<std::string> files_in(const Fd& directory) {
  std::vector<std::string> files;
  Fd again(openat(directory.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  DIR* const list = again ? fdopendir(again.get()) : nullptr;
  if (list == nullptr) return files;
  again.release();  // closedir() closes it
  while (const dirent* const entry = readdir(list)) files.emplace_back(entry->d_name);
  closedir(list);
  return files;
}

}  // namespace tmpi::launch
