#include "privatize/descriptor_signals.hpp"

#include <asm/ioctls.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "base/own_signals.hpp"
#include "privatize/rank_pid.hpp"
#include "privatize/rank_table.hpp"
#include "privatize/runtime_functions.hpp"
#include "privatize/thread_context.hpp"

namespace tmpi::privatize {
namespace {

/// Who hears of a descriptor. Of one that has been closed it stays, and nothing comes any more. Relaxed: whoever changes it
/// while signals come gets some by the old way.
struct Hearer {
  std::atomic<int> rank{kNoDescriptor};
  std::atomic<int> kind{F_OWNER_PID};  // as it was named: F_OWNER_TID, F_OWNER_PID
  std::atomic<int> signal{0};          // by F_SETSIG; 0: none, which means SIGIO
};
RankTable<Hearer, 1024> hearers;  // by descriptor

bool is_rank() noexcept {
  return thread_context().rank >= 0 && getpid() == node_process();
}

/// The rank of this process that is called `id`; -1: it is somebody else.
int rank_called(pid_t id) noexcept {
  if (id == node_process() || (id > 0 && id == gettid())) return thread_context().rank;
  return rank_of_pid(id);
}

/// What the kernel sends instead of the signal that the rank has chosen.
int stand_in() noexcept {
  return number_of(OwnSignal::kForRank);
}

/// The kernel tells the node process from now on, and of which descriptor.
int hear(int fd, int rank, int kind) noexcept {
  Hearer* const hearer = hearers.get(fd);
  if (hearer == nullptr) {
    errno = ENOMEM;
    return -1;
  }
  const f_owner_ex owner = {F_OWNER_PID, node_process()};
  const int signal = ::fcntl(fd, F_GETSIG);
  if (signal < 0 || ::fcntl(fd, F_SETOWN_EX, &owner) != 0) return -1;
  if (signal != stand_in()) hearer->signal.store(signal, std::memory_order_relaxed);
  hearer->kind.store(kind, std::memory_order_relaxed);
  hearer->rank.store(rank, std::memory_order_relaxed);
  return ::fcntl(fd, F_SETSIG, stand_in());
}

int get_signal(int fd) noexcept {
  const int signal = ::fcntl(fd, F_GETSIG);
  const Hearer* const hearer = hearers.find(fd);
  return signal != stand_in() || hearer == nullptr ? signal : hearer->signal.load(std::memory_order_relaxed);
}

int set_signal(int fd, int signal) noexcept {
  Hearer* const hearer = hearers.find(fd);
  if (hearer == nullptr || ::fcntl(fd, F_GETSIG) != stand_in()) return ::fcntl(fd, F_SETSIG, signal);
  // The kernel says whether there is such a one.
  if (::fcntl(fd, F_SETSIG, signal) != 0) return -1;
  hearer->signal.store(signal, std::memory_order_relaxed);
  return ::fcntl(fd, F_SETSIG, stand_in());
}

/// Somebody who does not know what the stand-in is hears of it.
int tell_others(int fd, const f_owner_ex& owner) noexcept {
  const int signal = get_signal(fd);
  if (signal < 0 || ::fcntl(fd, F_SETSIG, signal) != 0) return -1;
  return ::fcntl(fd, F_SETOWN_EX, &owner);
}

int set_owner(int fd, int kind, pid_t id) noexcept {
  if (const int rank = id > 0 && is_rank() ? rank_called(id) : -1; rank >= 0 && kind != F_OWNER_PGRP)
    return hear(fd, rank, kind);
  if (id == 0) return tell_others(fd, {F_OWNER_PID, 0});
  if (kind == F_OWNER_PGRP) return tell_others(fd, {F_OWNER_PGRP, kernel_pid(id)});
  if (id < 0) return tell_others(fd, {F_OWNER_PGRP, kernel_pid(-id)});
  return tell_others(fd,
                     {static_cast<__pid_type>(kind), kind == F_OWNER_TID ? kernel_tid(id) : kernel_pid(id)});
}

int get_owner(int fd, f_owner_ex& owner) noexcept {
  if (::fcntl(fd, F_GETOWN_EX, &owner) != 0) return -1;
  if (owner.pid != node_process() || owner.type != F_OWNER_PID) return 0;
  const Hearer* const hearer = hearers.find(fd);
  const int rank = hearer == nullptr ? -1 : hearer->rank.load(std::memory_order_relaxed);
  owner.pid = rank >= 0 ? pid_of_rank(rank) : tmpi_getpid();
  if (rank >= 0) owner.type = static_cast<__pid_type>(hearer->kind.load(std::memory_order_relaxed));
  return 0;
}

/// The kernel makes who asks for these their hearer, by itself.
int ask_for_notice(int fd, int command, void* argument) noexcept {
  const int result = ::fcntl(fd, command, argument);
  if (result == 0 && is_rank() && hear(fd, thread_context().rank, F_OWNER_PID) != 0) return -1;
  return result;
}

}  // namespace

bool is_signal_command(int command) noexcept {
  return command == F_SETOWN || command == F_GETOWN || command == F_SETOWN_EX || command == F_GETOWN_EX ||
         command == F_SETSIG || command == F_GETSIG || command == F_SETLEASE || command == F_NOTIFY;
}

int signal_fcntl(int fd, int command, void* argument) noexcept {
  const auto number = static_cast<int>(reinterpret_cast<std::intptr_t>(argument));
  f_owner_ex owner{};
  switch (command) {
    case F_SETOWN:
      return set_owner(fd, F_OWNER_PID, number);
    case F_SETOWN_EX:
      owner = *static_cast<const f_owner_ex*>(argument);
      return set_owner(fd, owner.type, owner.pid);
    case F_GETOWN:
      if (get_owner(fd, owner) != 0) return -1;
      return owner.type == F_OWNER_PGRP ? -owner.pid : owner.pid;
    case F_GETOWN_EX:
      return get_owner(fd, *static_cast<f_owner_ex*>(argument));
    case F_SETSIG:
      return set_signal(fd, number);
    case F_GETSIG:
      return get_signal(fd);
    default:
      return ask_for_notice(fd, command, argument);
  }
}

int rank_of_descriptor_signal(siginfo_t& info) noexcept {
  if (info.si_signo != stand_in() || info.si_code < POLL_IN || info.si_code > POLL_HUP) return kNoDescriptor;
  const Hearer* const hearer = hearers.find(info.si_fd);
  if (hearer == nullptr) return kNoDescriptor;
  const int chosen = hearer->signal.load(std::memory_order_relaxed);
  info.si_signo = chosen == 0 ? SIGIO : chosen;
  return hearer->rank.load(std::memory_order_relaxed);
}

extern "C" int tmpi_ioctl(int fd, unsigned long request, ...) {
  va_list rest;
  va_start(rest, request);
  void* const argument = va_arg(rest, void*);  // or a number, which travels the same way; or nothing
  va_end(rest);
  switch (request) {
    case FIOSETOWN:
    case SIOCSPGRP:
      return set_owner(fd, F_OWNER_PID, *static_cast<const int*>(argument));
    case FIOGETOWN:
    case SIOCGPGRP: {
      const int error = errno;
      errno = 0;
      const int owner = signal_fcntl(fd, F_GETOWN, nullptr);
      if (owner == -1 && errno != 0) return -1;
      errno = error;
      *static_cast<int*>(argument) = owner;
      return 0;
    }
    default:
      return ::ioctl(fd, request, argument);
  }
}

}  // namespace tmpi::privatize
