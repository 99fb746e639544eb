// All bytes of a read or write, which the system may do in pieces.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>

namespace tmpi {

/// False: errno says why.
inline bool write_whole(int fd, const void* data, std::size_t bytes) noexcept {
  for (const auto* at = static_cast<const std::byte*>(data); bytes > 0;) {
    const ssize_t done = write(fd, at, bytes);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    at += done;
    bytes -= static_cast<std::size_t>(done);
  }
  return true;
}

/// What lies in the file from `from` on. False: errno says why; ENODATA: it has fewer.
inline bool read_whole(int fd, void* to, std::size_t bytes, off_t from) noexcept {
  for (auto* at = static_cast<std::byte*>(to); bytes > 0;) {
    const ssize_t got = pread(fd, at, bytes, from);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = ENODATA;
    if (got <= 0) return false;
    at += got;
    from += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

/// "PATH: what errno says".
inline std::string with_reason(const std::string& path) {
  return path + ": " + std::strerror(errno);
}

}  // namespace tmpi
