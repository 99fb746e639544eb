// Reading, writing and asking about descriptors by number, where 0, 1 and 2 are the rank's.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "privatize/rank_callbacks.h"
#include "privatize/shim/descriptors.hpp"
#include "privatize/shim/host/libc_originals.hpp"

namespace tmpi::shim {
namespace {

/// What fstat says of a rank descriptor that leads to the launcher: a pipe, as under any launcher.
int describe_pipe(int fd, void* status, mode_t* mode, size_t size) noexcept {
  if (!is_open_descriptor(fd)) {
    errno = EBADF;
    return -1;
  }
  memset(status, 0, size);
  *mode = S_IFIFO | 0600;
  return 0;
}

}  // namespace

extern "C" {

ssize_t write(int fd, const void* data, size_t length) {
  if (!is_rank_descriptor(fd)) [[likely]]
    return tmpi_wait_write(fd, data, length);
  return write_descriptor(fd, data, length);
}

ssize_t read(int fd, void* data, size_t length) {
  if (!is_rank_descriptor(fd)) [[likely]]
    return tmpi_wait_read(fd, data, length);
  return read_descriptor(fd, data, length);
}

ssize_t writev(int fd, const struct iovec* parts, int count) {
  if (!is_rank_descriptor(fd)) [[likely]]
    return tmpi_wait_writev(fd, parts, count);
  const int real = real_descriptor(fd);
  if (real >= 0) return tmpi_libc.writev(real, parts, count);
  ssize_t total = 0;
  for (int i = 0; i < count; ++i) {
    const ssize_t written = write_descriptor(fd, parts[i].iov_base, parts[i].iov_len);
    if (written < 0) return total > 0 ? total : -1;
    total += written;
    if (static_cast<size_t>(written) < parts[i].iov_len) break;
  }
  return total;
}

ssize_t readv(int fd, const struct iovec* parts, int count) {
  if (!is_rank_descriptor(fd)) [[likely]]
    return tmpi_wait_readv(fd, parts, count);
  const int real = real_descriptor(fd);
  if (real >= 0) return tmpi_libc.readv(real, parts, count);
  // A read may return less than asked: the first part that takes something is enough.
  for (int i = 0; i < count; ++i) {
    if (parts[i].iov_len != 0) return read_descriptor(fd, parts[i].iov_base, parts[i].iov_len);
  }
  return 0;
}

// The fortified form, for a buffer of known size.
ssize_t __read_chk(int fd, void* data, size_t length, size_t size) {
  if (length > size) abort();
  return read(fd, data, length);
}

off_t lseek(int fd, off_t offset, int whence) noexcept {
  return is_rank_descriptor(fd) ? seek_descriptor(fd, offset, whence) : tmpi_libc.lseek(fd, offset, whence);
}
off64_t lseek64(int fd, off64_t offset, int whence) noexcept {
  return lseek(fd, offset, whence);
}

int fstat(int fd, struct stat* status) noexcept {
  if (!is_rank_descriptor(fd)) return tmpi_libc.fstat(fd, status);
  const int real = real_descriptor(fd);
  return real >= 0 ? tmpi_libc.fstat(real, status)
                   : describe_pipe(fd, status, &status->st_mode, sizeof *status);
}
int fstat64(int fd, struct stat64* status) noexcept {
  if (!is_rank_descriptor(fd)) return tmpi_libc.fstat64(fd, status);
  const int real = real_descriptor(fd);
  return real >= 0 ? tmpi_libc.fstat64(real, status)
                   : describe_pipe(fd, status, &status->st_mode, sizeof *status);
}

int isatty(int fd) {
  if (!is_rank_descriptor(fd)) return tmpi_libc.isatty(fd);
  const int real = real_descriptor(fd);
  if (real >= 0) return tmpi_libc.isatty(real);
  // Under a launcher the standard streams are pipes; a rank must not ask a terminal that all ranks share.
  errno = is_open_descriptor(fd) ? ENOTTY : EBADF;
  return 0;
}

}  // extern "C"

}  // namespace tmpi::shim
