#include "launch/node/blocking_call.hpp"

#include <fmt/core.h>
#include <sys/syscall.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

namespace tmpi::launch {
namespace {

struct SystemCall {
  long number;
  const char* name;
  bool of_descriptor;  // its first argument
};

constexpr SystemCall kCalls[] = {
    {SYS_read, "read", true},
    {SYS_pread64, "pread", true},
    {SYS_readv, "readv", true},
    {SYS_write, "write", true},
    {SYS_pwrite64, "pwrite", true},
    {SYS_writev, "writev", true},
    {SYS_recvfrom, "recv", true},
    {SYS_recvmsg, "recvmsg", true},
    {SYS_sendto, "send", true},
    {SYS_sendmsg, "sendmsg", true},
    {SYS_accept, "accept", true},
    {SYS_accept4, "accept", true},
    {SYS_connect, "connect", true},
    {SYS_flock, "flock", true},
    {SYS_fcntl, "fcntl", true},
    {SYS_fsync, "fsync", true},
    {SYS_fdatasync, "fdatasync", true},
    {SYS_ioctl, "ioctl", true},
    {SYS_epoll_wait, "epoll_wait", true},
    {SYS_epoll_pwait, "epoll_wait", true},
    {SYS_poll, "poll", false},
    {SYS_ppoll, "poll", false},
    {SYS_select, "select", false},
    {SYS_pselect6, "select", false},
    {SYS_nanosleep, "nanosleep", false},
    {SYS_clock_nanosleep, "nanosleep", false},
    {SYS_wait4, "waitpid", false},
    {SYS_waitid, "waitid", false},
    {SYS_pause, "pause", false},
    {SYS_rt_sigsuspend, "sigsuspend", false},
    {SYS_rt_sigtimedwait, "sigtimedwait", false},
    {SYS_futex, "a wait for another thread (futex)", false},
    {SYS_open, "open", false},
    {SYS_openat, "open", false},
    {SYS_semop, "semop", false},
    {SYS_semtimedop, "semtimedop", false},
    {SYS_msgrcv, "msgrcv", false},
    {SYS_msgsnd, "msgsnd", false},
};

// " of a pipe"; empty: it is nothing in particular.
std::string kind_of_descriptor(long fd) {
  std::error_code unknown;
  const std::string link =
      std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", fd), unknown).string();
  if (unknown || link.empty()) return {};
  if (link.front() == '/') return " of " + link;
  const std::string_view kind = std::string_view(link).substr(0, link.find(':'));
  return kind == "pipe" || kind == "socket" ? fmt::format(" of a {}", kind) : std::string();
}

}  // namespace

// "0 0x5 0x7ffe... ...": number and arguments; "running".
std::string blocking_call(int thread) {
  std::ifstream file(fmt::format("/proc/self/task/{}/syscall", thread));
  long number = -1;
  std::string first;
  if (!(file >> number >> first)) return {};
  const auto* call = std::ranges::find(kCalls, number, &SystemCall::number);
  if (call == std::end(kCalls)) return {};
  if (!call->of_descriptor) return call->name;
  const long fd = std::strtol(first.c_str(), nullptr, 16);
  return fmt::format("{}({}){}", call->name, fd, kind_of_descriptor(fd));
}

// The kernel's names of the clocks of threads (its posix-timers.h): what pthread_getcpuclockid() computes.
std::uint64_t time_run(int thread) noexcept {
  constexpr clockid_t kOfThread = 4 | 2;
  timespec time{};
  if (clock_gettime(static_cast<clockid_t>(~static_cast<unsigned>(thread) << 3) | kOfThread, &time) != 0)
    return 0;
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

}  // namespace tmpi::launch
