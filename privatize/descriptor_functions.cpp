// Functions that make descriptors: what a rank makes by them is its own (descriptor_owners.hpp). open and its like are in
// own_file.cpp, dup and its like in the shim. Bound to code in images only.
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pty.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "privatize/children.hpp"
#include "privatize/descriptor_owners.hpp"
#include "privatize/function_table.hpp"
#include "privatize/own_limits.hpp"
#include "privatize/rank_callbacks.h"
#include "privatize/runtime_functions.hpp"

namespace tmpi::privatize {
namespace {

/// The function, whose result is the rank's own descriptor.
template <auto kFunction, class Function = decltype(kFunction)>
struct Making;
template <auto kFunction, class... Arguments>
struct Making<kFunction, int (*)(Arguments...)> {
  static int call(Arguments... arguments) { return own_descriptor(kFunction(arguments...)); }
};
template <auto kFunction, class... Arguments>
struct Making<kFunction, int (*)(Arguments...) noexcept> {
  static int call(Arguments... arguments) noexcept { return own_descriptor(kFunction(arguments...)); }
};

int own_two(int result, const int* made) noexcept {
  if (result == 0) {
    own_descriptor(made[0]);
    own_descriptor(made[1]);
  }
  return result;
}

// Named here, as the templates do not take functions with attributes.
int make_signal_descriptor(int fd, const sigset_t* signals, int flags) noexcept {
  return own_descriptor(::signalfd(fd, signals, flags));
}
int make_file(const char* path, mode_t mode) {
  return own_descriptor(::creat(path, mode));
}
int make_temporary(char* name) {
  return own_descriptor(::mkstemp(name));
}
int make_temporary_with_suffix(char* name, int suffix) {
  return own_descriptor(::mkstemps(name, suffix));
}
int make_temporary_by_flags(char* name, int flags) {
  return own_descriptor(::mkostemp(name, flags));
}
int make_temporary_by_both(char* name, int suffix, int flags) {
  return own_descriptor(::mkostemps(name, suffix, flags));
}

int make_pipe(int* ends) noexcept {
  return own_two(::pipe(ends), ends);
}
int make_pipe2(int* ends, int flags) noexcept {
  return own_two(::pipe2(ends, flags), ends);
}
int make_pair(int domain, int type, int protocol, int* ends) noexcept {
  return own_two(::socketpair(domain, type, protocol, ends), ends);
}
int make_terminal(int* master, int* slave, char* name, const termios* settings,
                  const winsize* size) noexcept {
  const int result = ::openpty(master, slave, name, settings, size);
  const int made[] = {*master, *slave};
  return own_two(result, made);
}
mqd_t make_queue(const char* name, int flags, mode_t mode, mq_attr* attributes) noexcept {
  return own_descriptor(::mq_open(name, flags, mode, attributes));
}

/// Descriptors may come along (SCM_RIGHTS).
void own_what_came_with(msghdr* message) noexcept {
  if (message->msg_controllen == 0) return;
  for (cmsghdr* part = CMSG_FIRSTHDR(message); part != nullptr; part = CMSG_NXTHDR(message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int made = -1;
      memcpy(&made, CMSG_DATA(part) + i * sizeof made, sizeof made);
      own_descriptor_here(made);
    }
  }
}
ssize_t receive_message(int fd, msghdr* message, int flags) {
  const ssize_t received = tmpi_recvmsg(fd, message, flags);
  if (received >= 0) own_what_came_with(message);
  return received;
}
int receive_messages(int fd, mmsghdr* messages, unsigned count, int flags, timespec* timeout) {
  const int received = tmpi_recvmmsg(fd, messages, count, flags, timeout);
  for (int i = 0; i < received; ++i) own_what_came_with(&messages[i].msg_hdr);
  return received;
}

const FunctionEntry kTable[] = {
    {"socket", address_of(&Making<&::socket>::call)},
    {"socketpair", address_of(&make_pair)},
    {"pipe", address_of(&make_pipe)},
    {"__pipe", address_of(&make_pipe)},
    {"pipe2", address_of(&make_pipe2)},
    {"accept", address_of(&Making<&tmpi_accept>::call)},
    {"accept4", address_of(&Making<&tmpi_accept4>::call)},
    {"recvmsg", address_of(&receive_message)},
    {"recvmmsg", address_of(&receive_messages)},
    {"epoll_create", address_of(&Making<&::epoll_create>::call)},
    {"epoll_create1", address_of(&Making<&::epoll_create1>::call)},
    {"eventfd", address_of(&Making<&::eventfd>::call)},
    {"timerfd_create", address_of(&Making<&::timerfd_create>::call)},
    {"signalfd", address_of(&make_signal_descriptor)},
    {"inotify_init", address_of(&Making<&::inotify_init>::call)},
    {"inotify_init1", address_of(&Making<&::inotify_init1>::call)},
    {"fanotify_init", address_of(&Making<&::fanotify_init>::call)},
    {"memfd_create", address_of(&Making<&::memfd_create>::call)},
    {"shm_open", address_of(&Making<&::shm_open>::call)},
    {"mq_open", address_of(&make_queue)},
    {"pidfd_open", address_of(&Making<&tmpi_pidfd_open>::call)},
    {"posix_openpt", address_of(&Making<&::posix_openpt>::call)},
    {"getpt", address_of(&Making<&::getpt>::call)},
    {"openpty", address_of(&make_terminal)},
    {"creat", address_of(&make_file)},  // both widths are the same on 64-bit machines
    {"creat64", address_of(&make_file)},
    {"mkstemp", address_of(&make_temporary)},
    {"mkstemp64", address_of(&make_temporary)},
    {"mkstemps", address_of(&make_temporary_with_suffix)},
    {"mkstemps64", address_of(&make_temporary_with_suffix)},
    {"mkostemp", address_of(&make_temporary_by_flags)},
    {"mkostemp64", address_of(&make_temporary_by_flags)},
    {"mkostemps", address_of(&make_temporary_by_both)},
    {"mkostemps64", address_of(&make_temporary_by_both)},
};

}  // namespace

const void* descriptor_function(const char* name) noexcept {
  return find_function(kTable, name);
}

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED int tmpi_own_descriptor(int fd) {
  return own_descriptor(fd);
}
EXPORTED int tmpi_own_descriptor_here(int fd) {
  return own_descriptor_here(fd);
}
EXPORTED int tmpi_own_descriptor_taken_along(int fd) {
  return own_descriptor_taken_along(fd);
}
EXPORTED int tmpi_may_close(int fd) {
  return may_close(fd) ? 1 : 0;
}
EXPORTED int tmpi_is_own_descriptor(int fd) {
  return is_own_descriptor(fd) ? 1 : 0;
}
EXPORTED int tmpi_last_descriptor() {
  return last_descriptor();
}
EXPORTED void tmpi_close_descriptors_of_others() {
  close_descriptors_of_others();
}

EXPORTED void tmpi_hand_down_limits() {
  hand_down_limits(0);
}
EXPORTED void tmpi_limit_child() {
  limit_child(0);
}
EXPORTED int tmpi_dup_onto(int from, int to, int flags) {
  const int error = errno;
  if (fcntl(to, F_GETFD) >= 0) {
    if (may_close(to)) return own_descriptor_here(from == to ? to : dup3(from, to, flags));
    errno = EBADF;
    return -1;
  }
  // The number is free. If the runtime takes it meanwhile it is not replaced, as it would be by dup2().
  const int made = fcntl(from, (flags & O_CLOEXEC) != 0 ? F_DUPFD_CLOEXEC : F_DUPFD, to);
  if (made == to) {
    errno = error;
    return own_descriptor_here(made);
  }
  if (made >= 0) close(made);
  if (made >= 0 || errno == EINVAL) errno = EBADF;
  return -1;
}

}  // namespace tmpi::privatize
