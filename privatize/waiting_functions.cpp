// What waits for another process, or another rank, by other means than descriptors and locks: queues and semaphores of
// the system, futexes, signals, the other end of a FIFO, and input that libc reads by itself. Tried without blocking,
// where there is such a form; what would block another thread does (offload.hpp). Bound to code in images only.
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <netdb.h>
#include <signal.h>
#include <stdarg.h>
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

// ---- Streams ----

/// What a stream has read and nobody has taken yet.
std::size_t buffered(const FILE* file) noexcept {
  return static_cast<std::size_t>(file->_IO_read_end - file->_IO_read_ptr);
}

/// Reading on may block: it leads to a pipe, a socket or a terminal, and not to a rank's own standard stream, which waits
/// by itself. Who has locked the stream (flockfile) reads by itself, since no other thread can.
bool may_block(FILE* file) noexcept {
  if (!may_offload()) return false;
  const int error = own_errno();
  struct stat status {};
  const int fd = ::fileno_unlocked(file);
  const bool waits = fd >= 0 && ::fstat(fd, &status) == 0 && !S_ISREG(status.st_mode) &&
                     !S_ISDIR(status.st_mode) && (::fcntl(fd, F_GETFL) & O_NONBLOCK) == 0;
  set_own_errno(error);
  if (!waits || ::ftrylockfile(file) != 0) return false;
  // glibc counts how often the owner has locked it, in the second word.
  const bool only_now = static_cast<const int*>(static_cast<const void*>(file->_lock))[1] == 1;
  ::funlockfile(file);
  return only_now;
}

bool has_line(const FILE* file, std::size_t room, int end) noexcept {
  const std::size_t there = buffered(file);
  return there >= room || (there > 0 && memchr(file->_IO_read_ptr, end, there) != nullptr);
}

/// Makes `call`, which reads from the stream, by another thread if it may block.
template <class Call>
auto read_stream(FILE* file, const char* name, bool at_hand, const Call& call) noexcept {
  if (at_hand || !may_block(file)) return call();
  decltype(call()) result{};
  offload(name, true, [&] {
    result = call();
    return ::ferror_unlocked(file) != 0 ? -1L : 0L;
  });
  return result;
}

}  // namespace

namespace {

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

// ---- Streams ----

char* tmpi_fgets(char* line, int size, FILE* file) {
  const auto call = [=] { return ::fgets(line, size, file); };
  return read_stream(file, "fgets", size <= 1 || has_line(file, static_cast<std::size_t>(size) - 1, '\n'),
                     call);
}
char* tmpi_fgets_chk(char* line, std::size_t room, int size, FILE* file) {
  if (size > 0 && static_cast<std::size_t>(size) > room) __builtin_trap();
  return tmpi_fgets(line, size, file);
}
int tmpi_fgetc(FILE* file) {
  return read_stream(file, "fgetc", buffered(file) > 0, [=] { return ::fgetc(file); });
}
// The inlined getc_unlocked() calls it when nothing is left.
int tmpi_uflow(FILE* file) {
  return read_stream(file, "fgetc", buffered(file) > 0, [=] { return ::__uflow(file); });
}
std::size_t tmpi_fread(void* data, std::size_t size, std::size_t count, FILE* file) {
  std::size_t bytes = 0;
  const bool at_hand = __builtin_mul_overflow(size, count, &bytes) || buffered(file) >= bytes;
  return read_stream(file, "fread", at_hand, [=] { return ::fread(data, size, count, file); });
}
std::size_t tmpi_fread_chk(void* data, std::size_t room, std::size_t size, std::size_t count, FILE* file) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(size, count, &bytes) || bytes > room) __builtin_trap();
  return tmpi_fread(data, size, count, file);
}
// For the shim, which knows whose memory the line is.
__attribute__((visibility("default"))) ssize_t tmpi_getdelim(char** line, std::size_t* size, int end,
                                                             FILE* file) {
  const auto call = [=] { return ::getdelim(line, size, end, file); };
  return read_stream(file, "getdelim", has_line(file, SIZE_MAX, end), call);
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
