#include "privatize/children.hpp"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <new>
#include <vector>

#include "base/no_signals.hpp"
#include "base/spinlock.hpp"
#include "privatize/offload.hpp"
#include "privatize/rank_pid.hpp"
#include "privatize/rank_signals.hpp"
#include "privatize/runtime_functions.hpp"
#include "privatize/thread_context.hpp"

namespace tmpi::privatize {
namespace {

constexpr int kNobody = -1;
constexpr int kAllChanges = WEXITED | WSTOPPED | WCONTINUED;

struct Child {
  pid_t process;
  int rank;
  int told_code = 0, told_status = 0;  // of the last change that next_change() has given
};

// With signals blocked, as handlers look at it.
SpinLock lock;
std::vector<Child>& children() {
  static std::vector<Child>& all = *new std::vector<Child>;  // ranks may outlive everything
  return all;
}

class Locked {
 public:
  Locked() noexcept { lock.lock(); }
  ~Locked() { lock.unlock(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  NoSignals no_signals_;
};

int wait_id(idtype_t kind, id_t id, siginfo_t* info, int options, rusage* usage) noexcept {
  return static_cast<int>(syscall(SYS_waitid, kind, id, info, options, usage));
}

bool is_end(const siginfo_t& info) noexcept {
  return info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED;
}

/// The rank whose child it is; kNobody: it is no rank's, or there is none of this number.
int rank_of_child(pid_t process) noexcept {
  const Locked locked;
  const auto found = std::ranges::find(children(), process, &Child::process);
  return found == children().end() ? kNobody : found->rank;
}

void forget_child(pid_t process) noexcept {
  const Locked locked;
  std::erase_if(children(), [process](const Child& child) { return child.process == process; });
}

/// Under the lock.
void collect_abandoned() noexcept {
  const int error = errno;
  std::erase_if(children(), [](const Child& child) {
    siginfo_t info{};
    return child.rank == kNobody &&
           (wait_id(P_PID, static_cast<id_t>(child.process), &info, WEXITED | WNOHANG, nullptr) != 0 ||
            info.si_pid != 0);
  });
  errno = error;
}

/// The children of a rank that a wait is for. More than there is room for: the others have their turn later.
struct Candidates {
  std::array<pid_t, 512> processes;
  std::size_t count = 0;

  Candidates(int rank, idtype_t kind, id_t id) noexcept {
    {
      const Locked locked;
      for (const Child& child : children()) {
        if (child.rank == rank && count < processes.size()) processes[count++] = child.process;
      }
    }
    if (kind != P_PGID) return;
    const auto group = static_cast<pid_t>(id != 0 ? id : static_cast<id_t>(getpgrp()));
    const auto end = std::remove_if(begin(), begin() + count,
                                    [group](pid_t process) { return ::getpgid(process) != group; });
    count = static_cast<std::size_t>(end - begin());
  }
  pid_t* begin() noexcept { return processes.data(); }
  pid_t* end() noexcept { return processes.data() + count; }
};

/// One wait of a rank. Results are those of waitid(2).
class Wait {
 public:
  Wait(idtype_t kind, id_t id, int options, siginfo_t& info, rusage* usage) noexcept
      : kind_(kind), id_(id), options_(options), info_(info), usage_(usage) {}

  int run() noexcept {
    const bool one = kind_ == P_PID || kind_ == P_PIDFD;
    for (;;) {
      const int error = one ? look_at(kind_, id_) : look_at_all();
      if (error != 0 || info_.si_pid != 0 || (options_ & WNOHANG) != 0) return error;
      if ((one ? block_for(kind_, id_, options_) : block_for_all()) != 0 && errno != ECHILD) return -1;
    }
  }

 private:
  int look_at(idtype_t kind, id_t id) noexcept {
    info_ = {};
    if (wait_id(kind, id, &info_, options_ | WNOHANG, usage_) != 0) return -1;
    if (info_.si_pid != 0 && is_end(info_) && (options_ & WNOWAIT) == 0) forget_child(info_.si_pid);
    return 0;
  }

  int look_at_all() noexcept {
    bool any = false;
    Candidates candidates(thread_context().rank, kind_, id_);
    for (const pid_t process : candidates) {
      if (look_at(P_PID, static_cast<id_t>(process)) == 0) {
        any = true;
        if (info_.si_pid != 0) return 0;
      } else if (errno == ECHILD) {
        forget_child(process);  // something else has collected it
      } else {
        return -1;
      }
    }
    if (any) return 0;
    errno = ECHILD;
    return -1;
  }

  /// Makes the call, which waits until there is something to see. -1: a signal for the rank has ended it, or it has
  /// failed. One for another rank, which the kernel takes for ours, has not.
  template <class Call>
  static int block(const Call& call) noexcept {
    const std::uint32_t before = signals_interrupting(thread_context().rank);
    if (may_offload()) return offload("waitpid", true, call) < 0 ? -1 : 0;
    if (call() >= 0) return 0;
    return errno == EINTR && signals_interrupting(thread_context().rank) == before ? 0 : -1;
  }

  static int block_for(idtype_t kind, id_t id, int options) noexcept {
    return block([=] {
      siginfo_t seen{};
      return wait_id(kind, id, &seen, options | WNOWAIT, nullptr);
    });
  }

  /// For any child, or for a while: another thread of the rank may have made one meanwhile.
  int block_for_all() noexcept {
    Candidates candidates(thread_context().rank, kind_, id_);
    if (candidates.count == 1) return block_for(P_PID, static_cast<id_t>(candidates.processes[0]), options_);
    std::array<pollfd, 512> ends;
    bool all_known = true;
    for (std::size_t i = 0; i < candidates.count; ++i) {
      ends[i] = {static_cast<int>(syscall(SYS_pidfd_open, candidates.processes[i], 0)), POLLIN, 0};
      all_known = all_known && ends[i].fd >= 0;
    }
    // A descriptor tells of a child's end only.
    const int milliseconds = all_known && (options_ & (WSTOPPED | WCONTINUED)) == 0 ? 500 : 5;
    const int result = block(
        [&ends, &candidates, milliseconds] { return ::poll(ends.data(), candidates.count, milliseconds); });
    const int why = errno;
    for (std::size_t i = 0; i < candidates.count; ++i) {
      if (ends[i].fd >= 0) close(ends[i].fd);
    }
    errno = why;
    return result;
  }

  const idtype_t kind_;
  const id_t id_;
  const int options_;
  siginfo_t& info_;
  rusage* const usage_;
};

/// waitid(2) for the calling rank. `info` is zero where nothing has happened.
int wait_for_own(idtype_t kind, id_t id, siginfo_t& info, int options, rusage* usage) noexcept {
  const int error = errno;
  if (kind == P_PID) {
    const int owner = rank_of_child(static_cast<pid_t>(id));
    if (owner != kNobody && owner != thread_context().rank) {
      errno = ECHILD;
      return -1;
    }
  }
  if (Wait(kind, id, options, info, usage).run() != 0) return -1;
  errno = error;
  return 0;
}

/// As wait(2) has it.
int status_of(const siginfo_t& info) noexcept {
  switch (info.si_code) {
    case CLD_EXITED:
      return W_EXITCODE(info.si_status & 0xff, 0);
    case CLD_KILLED:
      return info.si_status & 0x7f;
    case CLD_DUMPED:
      return (info.si_status & 0x7f) | WCOREFLAG;
    case CLD_CONTINUED:
      return __W_CONTINUED;
    default:
      return W_STOPCODE(info.si_status);
  }
}

bool is_rank() noexcept {
  return thread_context().rank >= 0 && getpid() == node_process();
}

}  // namespace

void add_child(int rank, pid_t child) noexcept {
  if (rank < 0) return;
  {
    const Locked locked;
    collect_abandoned();
    try {
      children().push_back({child, rank});
    } catch (const std::bad_alloc&) {
      return;  // it is nobody's: waitpid(child) finds it still
    }
  }
  tell_of_children();  // it may have ended already
}

bool has_children(int rank) noexcept {
  const Locked locked;
  return std::ranges::find(children(), rank, &Child::rank) != children().end();
}

void abandon_children(int rank) noexcept {
  const Locked locked;
  for (Child& child : children()) {
    if (child.rank == rank) child.rank = kNobody;
  }
  collect_abandoned();
}

bool next_change(ChildWishes (*wishes)(int rank), ChildChange& change) noexcept {
  lock.lock();
  bool found = false;
  for (std::size_t i = 0; i < children().size() && !found; ++i) {
    Child& child = children()[i];
    const ChildWishes wish = child.rank == kNobody ? ChildWishes{} : wishes(child.rank);
    siginfo_t info{};
    const int which = wish.ends_only ? WEXITED : kAllChanges;
    if (!wish.wanted ||
        wait_id(P_PID, static_cast<id_t>(child.process), &info, which | WNOHANG | WNOWAIT, nullptr) != 0 ||
        info.si_pid == 0 || (child.told_code == info.si_code && child.told_status == info.si_status))
      continue;
    found = true;
    child.told_code = info.si_code;
    child.told_status = info.si_status;
    change = {child.rank, info};
    if (!wish.collected || !is_end(info)) continue;
    wait_id(P_PID, static_cast<id_t>(child.process), &info, WEXITED | WNOHANG, nullptr);
    children().erase(children().begin() + static_cast<std::ptrdiff_t>(i));
  }
  lock.unlock();
  return found;
}

extern "C" {

pid_t tmpi_wait4(pid_t process, int* status, int options, rusage* usage) {
  if (!is_rank()) return ::wait4(process, status, options, usage);
  const idtype_t kind = process > 0 ? P_PID : process == -1 ? P_ALL : P_PGID;
  const id_t id = kind == P_ALL ? 0 : static_cast<id_t>(process > 0 ? process : -process);
  siginfo_t info{};
  if (wait_for_own(kind, id, info, options | WEXITED, usage) != 0) return -1;
  if (info.si_pid != 0 && status != nullptr) *status = status_of(info);
  return info.si_pid;
}
pid_t tmpi_wait3(int* status, int options, rusage* usage) {
  return tmpi_wait4(-1, status, options, usage);
}
pid_t tmpi_waitpid(pid_t process, int* status, int options) {
  return tmpi_wait4(process, status, options, nullptr);
}
pid_t tmpi_wait(int* status) {
  return tmpi_wait4(-1, status, 0, nullptr);
}
int tmpi_waitid(idtype_t kind, id_t id, siginfo_t* info, int options) {
  if (!is_rank()) return ::waitid(kind, id, info, options);
  siginfo_t seen{};
  if (wait_for_own(kind, id, seen, options, nullptr) != 0) return -1;
  if (info != nullptr) *info = seen;
  return 0;
}

int tmpi_clone(int (*function)(void*), void* stack, int flags, void* argument, pid_t* parent, void* tls,
               pid_t* child) {
  const int made = ::clone(function, stack, flags, argument, parent, tls, child);
  if (made > 0 && (flags & CLONE_THREAD) == 0 && is_rank()) add_child(thread_context().rank, made);
  return made;
}

}  // extern "C"

}  // namespace tmpi::privatize
