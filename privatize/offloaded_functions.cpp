// System calls that wait for something outside of the job: a message from elsewhere, a lock
// (children: children.cpp). With
// --sleep yield another thread makes them if they would block. Bound to code in images only; each
// asks first whether it would, since a call that does not block must cost what it always does.
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdarg>

#include "privatize/descriptor_owners.hpp"
#include "privatize/descriptor_signals.hpp"
#include "privatize/loader.hpp"
#include "privatize/masked_wait.hpp"
#include "privatize/offload.hpp"
#include "privatize/rank_pid.hpp"
#include "privatize/record_locks.hpp"
#include "privatize/runtime_functions.hpp"
#include "privatize/sleep_hooks.hpp"

namespace tmpi::privatize {
namespace {

/// The descriptor waits, and nothing has come; `events` as of poll. What is wrong with it the call finds out.
bool would_wait(int fd, short events) noexcept {
  if (fd < 0) return false;
  const int error = errno;
  pollfd request{fd, events, 0};
  const bool nothing = ::poll(&request, 1, 0) == 0;
  const bool waits = nothing && (fcntl(fd, F_GETFL) & O_NONBLOCK) == 0;
  errno = error;
  return waits;
}

/// Room for a part is not room for all.
bool would_wait_to_write(int fd, std::size_t length) noexcept {
  if (would_wait(fd, POLLOUT)) return true;
  if (length <= PIPE_BUF) return false;
  const int error = errno;
  struct stat status {};
  const bool waits = fstat(fd, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)) &&
                     (fcntl(fd, F_GETFL) & O_NONBLOCK) == 0;
  errno = error;
  return waits;
}

bool waits_for_input(int fd, int flags = 0) noexcept {
  return may_offload() && (flags & MSG_DONTWAIT) == 0 && would_wait(fd, POLLIN);
}
bool waits_for_output(int fd, std::size_t length, int flags = 0) noexcept {
  return may_offload() && (flags & MSG_DONTWAIT) == 0 && would_wait_to_write(fd, length);
}

/// The calling thread is a rank's in its node process, whose record locks would be those of all.
bool has_own_locks() noexcept {
  return running_rank() >= 0 && !in_forked_child();
}

std::size_t total(const iovec* parts, std::size_t count) noexcept {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += parts[i].iov_len;
  return sum;
}

}  // namespace

extern "C" {

// ---- Descriptors ----

__attribute__((visibility("default"))) ssize_t tmpi_wait_read(int fd, void* data, size_t length) {
  const auto call = [=] { return ::read(fd, data, length); };
  return waits_for_input(fd) ? offload("read", true, call) : call();
}
__attribute__((visibility("default"))) ssize_t tmpi_wait_readv(int fd, const struct iovec* parts, int count) {
  const auto call = [=] { return ::readv(fd, parts, count); };
  return waits_for_input(fd) ? offload("readv", true, call) : call();
}
__attribute__((visibility("default"))) ssize_t tmpi_wait_write(int fd, const void* data, size_t length) {
  const auto call = [=] { return ::write(fd, data, length); };
  return waits_for_output(fd, length) ? offload("write", true, call) : call();
}
__attribute__((visibility("default"))) ssize_t tmpi_wait_writev(int fd, const struct iovec* parts,
                                                                int count) {
  const auto call = [=] { return ::writev(fd, parts, count); };
  const std::size_t length = count > 0 && may_offload() ? total(parts, static_cast<std::size_t>(count)) : 0;
  return waits_for_output(fd, length) ? offload("writev", true, call) : call();
}

ssize_t tmpi_recv(int fd, void* data, size_t length, int flags) {
  const auto call = [=] { return ::recv(fd, data, length, flags); };
  return waits_for_input(fd, flags) ? offload("recv", true, call) : call();
}
ssize_t tmpi_recv_chk(int fd, void* data, size_t length, size_t size, int flags) {
  if (length > size) __builtin_trap();
  return tmpi_recv(fd, data, length, flags);
}
ssize_t tmpi_recvfrom(int fd, void* data, size_t length, int flags, sockaddr* from, socklen_t* from_length) {
  const auto call = [=] { return ::recvfrom(fd, data, length, flags, from, from_length); };
  return waits_for_input(fd, flags) ? offload("recvfrom", true, call) : call();
}
ssize_t tmpi_recvfrom_chk(int fd, void* data, size_t length, size_t size, int flags, sockaddr* from,
                          socklen_t* from_length) {
  if (length > size) __builtin_trap();
  return tmpi_recvfrom(fd, data, length, flags, from, from_length);
}
ssize_t tmpi_recvmsg(int fd, msghdr* message, int flags) {
  const auto call = [=] { return ::recvmsg(fd, message, flags); };
  return waits_for_input(fd, flags) ? offload("recvmsg", true, call) : call();
}
ssize_t tmpi_send(int fd, const void* data, size_t length, int flags) {
  const auto call = [=] { return ::send(fd, data, length, flags); };
  return waits_for_output(fd, length, flags) ? offload("send", true, call) : call();
}
ssize_t tmpi_sendto(int fd, const void* data, size_t length, int flags, const sockaddr* to,
                    socklen_t to_length) {
  const auto call = [=] { return ::sendto(fd, data, length, flags, to, to_length); };
  return waits_for_output(fd, length, flags) ? offload("sendto", true, call) : call();
}
ssize_t tmpi_sendmsg(int fd, const msghdr* message, int flags) {
  const auto call = [=] { return ::sendmsg(fd, message, flags); };
  const std::size_t length = may_offload() ? total(message->msg_iov, message->msg_iovlen) : 0;
  return waits_for_output(fd, length, flags) ? offload("sendmsg", true, call) : call();
}
int tmpi_accept(int fd, sockaddr* address, socklen_t* length) {
  const auto call = [=] { return ::accept(fd, address, length); };
  return static_cast<int>(waits_for_input(fd) ? offload("accept", true, call) : call());
}
int tmpi_accept4(int fd, sockaddr* address, socklen_t* length, int flags) {
  const auto call = [=] { return ::accept4(fd, address, length, flags); };
  return static_cast<int>(waits_for_input(fd) ? offload("accept4", true, call) : call());
}
int tmpi_connect(int fd, const sockaddr* address, socklen_t length) {
  const auto call = [=] { return ::connect(fd, address, length); };
  const bool waits = may_offload() && (fcntl(fd, F_GETFL) & O_NONBLOCK) == 0;
  // Made again on a connection that has been begun, Linux waits for it.
  return static_cast<int>(waits ? offload("connect", true, call) : call());
}
int tmpi_epoll_wait(int fd, epoll_event* events, int most, int milliseconds) {
  const auto call = [=] { return ::epoll_wait(fd, events, most, milliseconds); };
  if (milliseconds == 0 || !may_offload()) return call();
  const int ready = ::epoll_wait(fd, events, most, 0);
  return ready != 0 ? ready : static_cast<int>(offload("epoll_wait", false, call));
}

int tmpi_epoll_pwait(int fd, epoll_event* events, int most, int milliseconds, const sigset_t* mask) {
  if (mask == nullptr) return tmpi_epoll_wait(fd, events, most, milliseconds);
  if (milliseconds == 0 || !may_offload()) return ::epoll_pwait(fd, events, most, milliseconds, mask);
  const std::uint64_t time =
      milliseconds < 0 ? kNoDeadline : static_cast<std::uint64_t>(milliseconds) * 1'000'000;
  return wait_masked(*mask, time, "epoll_pwait", [=] { return ::epoll_wait(fd, events, most, 0); });
}
int tmpi_epoll_pwait2(int fd, epoll_event* events, int most, const timespec* timeout, const sigset_t* mask) {
  const auto call = [=] { return ::epoll_pwait2(fd, events, most, timeout, mask); };
  const bool looks = timeout != nullptr && timeout->tv_sec == 0 && timeout->tv_nsec == 0;
  if (looks || !may_offload()) return call();
  const int ready = ::epoll_wait(fd, events, most, 0);
  if (ready != 0) return ready;
  if (mask == nullptr) return static_cast<int>(offload("epoll_pwait2", false, call));
  const std::uint64_t time = timeout == nullptr
                                 ? kNoDeadline
                                 : static_cast<std::uint64_t>(timeout->tv_sec) * 1'000'000'000 +
                                       static_cast<std::uint64_t>(timeout->tv_nsec);
  return wait_masked(*mask, time, "epoll_pwait2", [=] { return ::epoll_wait(fd, events, most, 0); });
}
int tmpi_recvmmsg(int fd, mmsghdr* messages, unsigned count, int flags, timespec* timeout) {
  const auto call = [=] { return ::recvmmsg(fd, messages, count, flags, timeout); };
  // The first may be there, and the others not.
  return static_cast<int>(may_offload() && (flags & MSG_DONTWAIT) == 0 ? offload("recvmmsg", true, call)
                                                                       : call());
}
int tmpi_sendmmsg(int fd, mmsghdr* messages, unsigned count, int flags) {
  const auto call = [=] { return ::sendmmsg(fd, messages, count, flags); };
  std::size_t length = 0;
  for (unsigned i = 0; i < count && may_offload(); ++i)
    length += total(messages[i].msg_hdr.msg_iov, messages[i].msg_hdr.msg_iovlen);
  return static_cast<int>(waits_for_output(fd, length, flags) ? offload("sendmmsg", true, call) : call());
}
ssize_t tmpi_splice(int from, off64_t* from_at, int to, off64_t* to_at, std::size_t length, unsigned flags) {
  const auto call = [=] { return ::splice(from, from_at, to, to_at, length, flags); };
  const bool waits =
      (flags & SPLICE_F_NONBLOCK) == 0 && (waits_for_input(from) || waits_for_output(to, length));
  return waits ? offload("splice", true, call) : call();
}
ssize_t tmpi_sendfile(int to, int from, off_t* from_at, std::size_t length) {
  const auto call = [=] { return ::sendfile(to, from, from_at, length); };
  return waits_for_output(to, length) ? offload("sendfile", true, call) : call();
}

// ---- Locks ----

int tmpi_flock(int fd, int operation) {
  const auto call = [=] { return ::flock(fd, operation); };
  if ((operation & (LOCK_NB | LOCK_UN)) != 0 || !may_offload()) return call();
  const int error = errno;
  if (::flock(fd, operation | LOCK_NB) == 0) return 0;
  if (errno != EWOULDBLOCK) return -1;
  errno = error;
  return static_cast<int>(offload("flock", true, call));
}
int tmpi_lockf(int fd, int command, off_t length) {
  if (!has_own_locks()) return ::lockf(fd, command, length);
  struct flock lock {};
  lock.l_whence = SEEK_CUR;
  lock.l_len = length;
  switch (command) {
    case F_TEST:
      lock.l_type = F_RDLCK;  // as glibc asks
      if (lock_records(running_rank(), fd, F_GETLK, &lock) != 0) return -1;
      if (lock.l_type == F_UNLCK) return 0;
      errno = EACCES;
      return -1;
    case F_ULOCK:
      lock.l_type = F_UNLCK;
      break;
    case F_LOCK:
    case F_TLOCK:
      lock.l_type = F_WRLCK;
      break;
    default:
      errno = EINVAL;
      return -1;
  }
  return lock_records(running_rank(), fd, command == F_LOCK ? F_SETLKW : F_SETLK, &lock);
}
int tmpi_fcntl(int fd, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void* const argument = va_arg(rest, void*);  // or a number, which travels the same way; or nothing
  va_end(rest);
  if (is_signal_command(command)) return signal_fcntl(fd, command, argument);
  if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) return own_descriptor(::fcntl(fd, command, argument));
  const auto call = [=] { return ::fcntl(fd, command, argument); };
  if ((command == F_SETLK || command == F_SETLKW || command == F_GETLK) && has_own_locks())
    return lock_records(running_rank(), fd, command, static_cast<struct flock*>(argument));
  if (command != F_OFD_SETLKW || !may_offload()) return call();
  return static_cast<int>(offload("fcntl", true, call));
}

}  // extern "C"

}  // namespace tmpi::privatize
