#include "privatize/shim/descriptors.hpp"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <unistd.h>

#include "privatize/rank_callbacks.h"
#include "privatize/shim/host/libc_originals.hpp"
#include "privatize/shim/lock.hpp"
#include "privatize/shim/process.hpp"
#include "privatize/shim/shim.h"

namespace tmpi::shim {
namespace {

/// Where a rank descriptor leads: a real descriptor (>= 0), a stream of the launcher, or nowhere.
using Target = int;
constexpr Target kClosed = -1;
constexpr Target launcher_stream(int stream) {
  return -2 - stream;
}
constexpr bool leads_to_launcher(Target target) {
  return target <= launcher_stream(0);
}
constexpr int stream_of(Target target) {
  return -2 - target;
}

Target standard[3] = {launcher_stream(0), launcher_stream(1), launcher_stream(2)};

/// Copies that the program made of its standard descriptors while those led to the launcher: real numbers that
/// stand for that stream.
struct Copy {
  int fd;
  Target target;
};
constexpr int kMostCopies = 12;
Copy copies[kMostCopies];
int copy_count;
Lock lock;
bool plain;  // in a forked child

Copy* find_copy(int fd) noexcept {
  for (int i = 0; i < copy_count; ++i) {
    if (copies[i].fd == fd) return &copies[i];
  }
  return nullptr;
}

void forget_copy(int fd) noexcept {
  Locked locked(lock);
  if (Copy* copy = find_copy(fd)) *copy = copies[--copy_count];
}

bool remember_copy(int fd, Target target) noexcept {
  Locked locked(lock);
  if (copy_count == kMostCopies) return false;
  copies[copy_count++] = {fd, target};
  return true;
}

Target target_of(int fd) noexcept {
  if (fd >= 0 && fd <= 2) return standard[fd];
  if (copy_count != 0) {
    Locked locked(lock);
    if (const Copy* copy = find_copy(fd)) return copy->target;
  }
  return fd;
}

/// A real descriptor of the rank.
int close_real(int fd) noexcept {
  tmpi_rank_closes(tmpi_image_rank, fd);
  return tmpi_libc.close(fd);
}

/// What a copy of `fd` is a copy of, for the kernel: a number must exist even where the target is no descriptor.
int kernel_descriptor(int fd) noexcept {
  const Target target = target_of(fd);
  return leads_to_launcher(target) ? stream_of(target) : target;
}

int record_copy_of(int fd, int result) noexcept {
  const Target target = target_of(fd);
  if (result < 0 || !leads_to_launcher(target)) return result;
  if (remember_copy(result, target)) return result;
  tmpi_libc.close(result);
  errno = EMFILE;
  return -1;
}

/// dup2 and dup3 of numbers that lead to descriptors of the kernel.
int duplicate_real(int from, int to, int flags) noexcept {
  if (from != to && tmpi_may_close(to) != 0) tmpi_rank_closes(tmpi_image_rank, to);
  return from == to ? tmpi_libc.dup2(from, to) : tmpi_dup_onto(from, to, flags);
}

/// dup2 and dup3 of any.
int duplicate_onto(int from, int to, int flags) noexcept {
  if (!is_rank_descriptor(from) && !is_rank_descriptor(to)) return duplicate_real(from, to, flags);
  const Target source = target_of(from);
  if (source == kClosed) {
    errno = EBADF;
    return -1;
  }
  if (from == to) return to;
  if (to < 0 || to > 2) {
    if (copy_count != 0) forget_copy(to);
    return record_copy_of(from, duplicate_real(kernel_descriptor(from), to, flags));
  }
  Target target = source;
  if (!leads_to_launcher(source)) {
    target = tmpi_own_descriptor(tmpi_libc.dup(source));
    if (target < 0) return -1;
  }
  if (standard[to] >= 0) close_real(standard[to]);
  standard[to] = target;
  return to;
}

}  // namespace

bool is_rank_descriptor(int fd) noexcept {
  if (plain) return false;
  if (fd <= 2) return fd >= 0;
  if (copy_count == 0) return false;
  Locked locked(lock);
  return find_copy(fd) != nullptr;
}

ssize_t write_descriptor(int fd, const void* data, std::size_t length) noexcept {
  const Target target = target_of(fd);
  if (target == kClosed || target == launcher_stream(0)) {
    errno = EBADF;
    return -1;
  }
  if (!leads_to_launcher(target)) return tmpi_libc.write(target, data, length);
  if (in_forked_child()) return tmpi_libc.write(stream_of(target), data, length);
  return tmpi_rank_write(tmpi_image_rank, stream_of(target), data, length);
}

ssize_t read_descriptor(int fd, void* data, std::size_t length) noexcept {
  const Target target = target_of(fd);
  if (!leads_to_launcher(target) && target != kClosed) return tmpi_libc.read(target, data, length);
  if (target != launcher_stream(0)) {
    errno = EBADF;
    return -1;
  }
  if (in_forked_child()) return tmpi_libc.read(0, data, length);
  return tmpi_rank_read(tmpi_image_rank, data, length);
}

off_t seek_descriptor(int fd, off_t offset, int whence) noexcept {
  const int real = real_descriptor(fd);
  if (real >= 0) return tmpi_libc.lseek(real, offset, whence);
  errno = ESPIPE;
  return -1;
}

int stream_behind_copy(int fd) noexcept {
  Locked locked(lock);
  const Copy* const copy = find_copy(fd);
  return copy != nullptr ? stream_of(copy->target) : -1;
}

bool is_open_descriptor(int fd) noexcept {
  return target_of(fd) != kClosed;
}

void lay_out_standard_streams() noexcept {
  for (int fd = 0; fd <= 2; ++fd) {
    if (standard[fd] >= 0) {
      tmpi_libc.dup2(standard[fd], fd);
    } else if (standard[fd] == kClosed) {
      tmpi_libc.close(fd);
    }
  }
}

void become_plain() noexcept {
  lay_out_standard_streams();
  for (int fd = 0; fd <= 2; ++fd) {
    if (standard[fd] >= 0) tmpi_libc.close(standard[fd]);
    standard[fd] = launcher_stream(fd);
  }
  copy_count = 0;
  plain = true;
}

int real_descriptor(int fd) noexcept {
  const Target target = target_of(fd);
  return target >= 0 ? target : -1;
}

void redirect_descriptor(int fd, int real) noexcept {
  if (plain) {
    tmpi_libc.dup2(real, fd);
    tmpi_libc.close(real);
    return;
  }
  if (standard[fd] >= 0) close_real(standard[fd]);
  standard[fd] = real;
}

int close_descriptor(int fd) noexcept {
  if (fd > 2) {
    forget_copy(fd);
    return close_real(fd);
  }
  const Target target = standard[fd];
  standard[fd] = kClosed;
  if (leads_to_launcher(target)) return 0;
  if (target >= 0) return close_real(target);
  errno = EBADF;
  return -1;
}

extern "C" {

int close(int fd) {
  if (in_forked_child()) return tmpi_libc.close(fd);
  if (is_rank_descriptor(fd)) return close_descriptor(fd);
  if (tmpi_may_close(fd) != 0) return close_real(fd);
  errno = EBADF;
  return -1;
}

int dup(int fd) {
  if (in_forked_child()) return tmpi_libc.dup(fd);
  if (!is_rank_descriptor(fd)) return tmpi_own_descriptor(tmpi_libc.dup(fd));
  if (target_of(fd) == kClosed) {
    errno = EBADF;
    return -1;
  }
  const int made = tmpi_libc.dup(kernel_descriptor(fd));
  return record_copy_of(fd, leads_to_launcher(target_of(fd)) ? tmpi_own_descriptor_taken_along(made)
                                                             : tmpi_own_descriptor(made));
}

int dup2(int from, int to) {
  if (in_forked_child()) return tmpi_libc.dup2(from, to);
  return duplicate_onto(from, to, 0);
}

int dup3(int from, int to, int flags) {
  if (in_forked_child()) return tmpi_libc.dup3(from, to, flags);
  if (from != to) return duplicate_onto(from, to, flags);
  errno = EINVAL;
  return -1;
}

int close_range(unsigned first, unsigned last, int flags) noexcept {
  if (in_forked_child()) return tmpi_libc.close_range(first, last, flags);
  if (first > last) {
    errno = EINVAL;
    return -1;
  }
  const bool at_exec = (flags & CLOSE_RANGE_CLOEXEC) != 0;
  const auto most = static_cast<unsigned>(tmpi_last_descriptor());
  for (unsigned number = first; number <= last && number <= most; ++number) {
    const int fd = static_cast<int>(number);
    if (!is_rank_descriptor(fd) && tmpi_is_own_descriptor(fd) == 0) continue;
    if (!at_exec) {
      close(fd);
    } else if (fd > 2) {
      fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
  }
  return 0;
}
void closefrom(int first) noexcept {
  const int error = errno;
  close_range(static_cast<unsigned>(first < 0 ? 0 : first), ~0U, 0);
  errno = error;
}

}  // extern "C"

}  // namespace tmpi::shim
