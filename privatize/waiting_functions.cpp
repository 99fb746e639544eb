// What waits for another process, or another rank, by other means than descriptors and locks: queues and semaphores of
// the system, futexes, signals, the other end of a FIFO. Tried without blocking, where there is such a
// form; what would block another thread does (offload.hpp). Bound to code in images only.
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "privatize/offload.hpp"
#include "privatize/runtime_functions.hpp"
#include "privatize/sleep_hooks.hpp"
#include "privatize/waiting.hpp"

namespace tmpi::privatize {
namespace {

/// Makes the call by another thread if attempt(), which does not block, says that it would: -1 and `would_block`.
template <class Attempt, class Call>
long try_then_offload(const char* name, bool restarts, int would_block, const Attempt& attempt,
                      const Call& call) noexcept {
  const int error = own_errno();
  const long result = attempt();
  if (result != -1 || own_errno() != would_block) return result;
  set_own_errno(error);
  return offload(name, restarts, call);
}

/// open() would wait until another process or rank opens the other end of a FIFO.
bool waits_for_other_end(int directory, const char* path, int flags) noexcept {
  if ((flags & (O_NONBLOCK | O_PATH)) != 0 || (flags & O_ACCMODE) == O_RDWR || !may_offload()) return false;
  const int error = own_errno();
  struct stat status {};
  const bool fifo =
      path != nullptr && ::fstatat(directory, path, &status, 0) == 0 && S_ISFIFO(status.st_mode);
  set_own_errno(error);
  return fifo;
}

}  // namespace

int open_or_wait(int directory, const char* path, int flags, mode_t mode) noexcept {
  const auto call = [=] { return ::openat(directory, path, flags, mode); };
  return waits_for_other_end(directory, path, flags) ? static_cast<int>(offload("open", true, call)) : call();
}

long futex_call(const long (&arguments)[6]) noexcept {
  const auto call = [&] {
    return ::syscall(SYS_futex, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
                     arguments[5]);
  };
  const long operation = arguments[1] & FUTEX_CMD_MASK;
  if ((operation != FUTEX_WAIT && operation != FUTEX_WAIT_BITSET) || !may_offload()) return call();
  const auto* const word = reinterpret_cast<const std::uint32_t*>(arguments[0]);
  if (word == nullptr || __atomic_load_n(word, __ATOMIC_SEQ_CST) != static_cast<std::uint32_t>(arguments[2]))
    return call();
  return offload("futex", true, call);
}

extern "C" {

// For the shim, which has fopen.
__attribute__((visibility("default"))) FILE* tmpi_wait_open(FILE* (*open)(const char*, const char*),
                                                            const char* path, const char* mode) {
  const int flags = strchr(mode, '+') != nullptr ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;
  if (!waits_for_other_end(AT_FDCWD, path, flags)) return open(path, mode);
  FILE* file = nullptr;
  offload("fopen", true, [&] { return (file = open(path, mode)) == nullptr ? -1L : 0L; });
  return file;
}

// futex(2) has no other name.
long tmpi_waiting_syscall(long number, long a, long b, long c, long d, long e, long f) {
  if (number == SYS_futex) return futex_call({a, b, c, d, e, f});
  if (number == SYS_sched_yield) return tmpi_sched_yield();
  return ::syscall(number, a, b, c, d, e, f);
}

// ---- Queues and semaphores ----

int tmpi_semtimedop(int set, sembuf* operations, std::size_t count, const timespec* time) {
  const auto call = [=] { return ::semtimedop(set, operations, count, time); };
  constexpr timespec kNow{0, 0};
  const bool waits = std::any_of(operations, operations + count,
                                 [](const sembuf& one) { return (one.sem_flg & IPC_NOWAIT) == 0; });
  if (!waits || !may_offload()) return call();
  // With no time to wait it says the same of those that wait and those that must not.
  return static_cast<int>(try_then_offload(
      "semop", false, EAGAIN, [=] { return ::semtimedop(set, operations, count, &kNow); }, call));
}
int tmpi_semop(int set, sembuf* operations, std::size_t count) {
  return tmpi_semtimedop(set, operations, count, nullptr);
}
ssize_t tmpi_msgrcv(int queue, void* message, std::size_t size, long type, int flags) {
  const auto call = [=] { return ::msgrcv(queue, message, size, type, flags); };
  if ((flags & IPC_NOWAIT) != 0 || !may_offload()) return call();
  return try_then_offload(
      "msgrcv", false, ENOMSG, [=] { return ::msgrcv(queue, message, size, type, flags | IPC_NOWAIT); },
      call);
}
int tmpi_msgsnd(int queue, const void* message, std::size_t size, int flags) {
  const auto call = [=] { return ::msgsnd(queue, message, size, flags); };
  if ((flags & IPC_NOWAIT) != 0 || !may_offload()) return call();
  return static_cast<int>(try_then_offload(
      "msgsnd", false, EAGAIN, [=] { return ::msgsnd(queue, message, size, flags | IPC_NOWAIT); }, call));
}

ssize_t tmpi_mq_timedreceive(mqd_t queue, char* data, std::size_t size, unsigned* priority,
                             const timespec* time) {
  const auto call = [=] { return ::mq_timedreceive(queue, data, size, priority, time); };
  if (!may_offload()) return call();
  constexpr timespec kPast{0, 0};
  return try_then_offload(
      "mq_receive", true, ETIMEDOUT, [=] { return ::mq_timedreceive(queue, data, size, priority, &kPast); },
      call);
}
ssize_t tmpi_mq_receive(mqd_t queue, char* data, std::size_t size, unsigned* priority) {
  return tmpi_mq_timedreceive(queue, data, size, priority, nullptr);
}
int tmpi_mq_timedsend(mqd_t queue, const char* data, std::size_t size, unsigned priority,
                      const timespec* time) {
  const auto call = [=] { return ::mq_timedsend(queue, data, size, priority, time); };
  if (!may_offload()) return call();
  constexpr timespec kPast{0, 0};
  return static_cast<int>(try_then_offload(
      "mq_send", true, ETIMEDOUT, [=] { return ::mq_timedsend(queue, data, size, priority, &kPast); }, call));
}
int tmpi_mq_send(mqd_t queue, const char* data, std::size_t size, unsigned priority) {
  return tmpi_mq_timedsend(queue, data, size, priority, nullptr);
}

// ---- Signals ----

// They come to the thread of the rank, which therefore looks itself, with the others in between.
int tmpi_sigtimedwait(const sigset_t* signals, siginfo_t* info, const timespec* time) {
  constexpr timespec kNow{0, 0};
  constexpr std::uint64_t kLongest = 1'000'000;  // ns
  if (!may_offload()) return ::sigtimedwait(signals, info, time);
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const auto nanoseconds = [](const timespec& t) { return t.tv_sec * 1'000'000'000LL + t.tv_nsec; };
  const long long end = time == nullptr ? INT64_MAX : nanoseconds(now) + nanoseconds(*time);
  for (std::uint64_t rest = 20'000;; rest = std::min(kLongest, rest * 2)) {
    const int signal = ::sigtimedwait(signals, info, &kNow);
    if (signal >= 0 || own_errno() != EAGAIN) return signal;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (nanoseconds(now) >= end) return -1;
    if (!give_way()) rest_rank(rest, "sigwait");
  }
}
int tmpi_sigwaitinfo(const sigset_t* signals, siginfo_t* info) {
  return may_offload() ? tmpi_sigtimedwait(signals, info, nullptr) : ::sigwaitinfo(signals, info);
}
int tmpi_sigwait(const sigset_t* signals, int* signal) {
  if (!may_offload()) return ::sigwait(signals, signal);
  const int error = own_errno();
  int came;
  do {
    came = tmpi_sigtimedwait(signals, nullptr, nullptr);
  } while (came < 0 && own_errno() == EINTR);
  const int why = own_errno();
  set_own_errno(error);
  if (came < 0) return why;
  *signal = came;
  return 0;
}

// ---- Names ----

int tmpi_getaddrinfo(const char* node, const char* port, const addrinfo* hints, addrinfo** found) {
  const auto call = [=] { return ::getaddrinfo(node, port, hints, found); };
  if (node == nullptr || !may_offload()) return call();
  int result = 0;  // EAI_BADFLAGS is -1
  offload("getaddrinfo", true, [&] {
    result = call();
    return result == EAI_SYSTEM ? -1L : 0L;
  });
  return result;
}

}  // extern "C"

}  // namespace tmpi::privatize
