#include "launch/node/stopped_threads.hpp"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include "base/fd.hpp"

namespace tmpi::launch {
namespace {

constexpr std::size_t kStack = 256 << 10;
constexpr int kMostThreads = 4096;
constexpr int kPatience = 200;  // looks at a thread that does not stop, a millisecond each
// Seconds, after which the kernel lets the threads go on: one that stands still may hold a lock of the unwinder.
constexpr unsigned kLongest = 10;

struct Traced {
  int id;
  int signal;  // that it was about to get
};

// Shared by the process and its tracer; lies in memory of its own, with the tracer's stack behind.
struct Tracer {
  void (*look)(std::span<const StoppedThread> threads, void* argument);
  void* argument;
  char directory[32];           // of the process's threads
  std::atomic<bool> go{false};  // release: the tracer may trace
  int known = 0;
  bool forbidden = false;
  Traced traced[kMostThreads];
  StoppedThread stopped[kMostThreads];
  int count = 0;  // of `stopped`
  alignas(64) char stack[kStack];
};

sigjmp_buf g_survivor;
volatile sig_atomic_t g_may_crash = 0;

void on_fault(int number) {
  if (g_may_crash != 0) siglongjmp(g_survivor, 1);
  signal(number, SIG_DFL);
}

void pause_shortly() {
  const timespec millisecond{0, 1'000'000};
  nanosleep(&millisecond, nullptr);
}

bool knows(const Tracer& tracer, int thread) {
  return std::any_of(tracer.traced, tracer.traced + tracer.known,
                     [&](const Traced& traced) { return traced.id == thread; });
}

// Waits until the thread has stopped. False: it has not, or has gone.
bool await_stop(Traced& thread) {
  for (int look = 0; look < kPatience; ++look) {
    int status = 0;
    const int got = waitpid(thread.id, &status, __WALL | WNOHANG);
    if (got < 0 || (got > 0 && !WIFSTOPPED(status))) return false;
    if (got > 0) {
      const bool ours = status >> 16 == PTRACE_EVENT_STOP;
      thread.signal = ours ? 0 : WSTOPSIG(status);
      return true;
    }
    look < 20 ? static_cast<void>(sched_yield()) : pause_shortly();
  }
  return false;
}

void stop(Tracer& tracer, int thread) {
  if (tracer.known == kMostThreads || ptrace(PTRACE_SEIZE, thread, 0, 0) != 0) {
    tracer.forbidden |= errno == EPERM;
    return;
  }
  Traced& traced = tracer.traced[tracer.known++];
  traced = {thread, 0};
  user_regs_struct registers;
  if (ptrace(PTRACE_INTERRUPT, thread, 0, 0) != 0 || !await_stop(traced) ||
      ptrace(PTRACE_GETREGS, thread, 0, &registers) != 0)
    return;
  tracer.stopped[tracer.count++] = {thread, ult::registers_of(registers)};
}

struct DirectoryEntry {  // of getdents64: readdir() allocates
  std::uint64_t inode;
  std::int64_t offset;
  unsigned short length;
  unsigned char type;
  char name[];
};

// True: there were some that had not been known.
bool stop_all(Tracer& tracer) {
  const Fd directory(open(tracer.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return false;
  const int before = tracer.known;
  alignas(DirectoryEntry) char entries[8192];
  for (long got; (got = syscall(SYS_getdents64, directory.get(), entries, sizeof entries)) > 0;) {
    for (long at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const DirectoryEntry*>(entries + at);
      at += entry->length;
      const int thread = atoi(entry->name);
      if (thread > 0 && !knows(tracer, thread)) stop(tracer, thread);
      if (tracer.forbidden) break;
    }
  }
  return tracer.known > before && !tracer.forbidden;
}

void let_go(const Tracer& tracer) {
  for (int i = 0; i < tracer.known; ++i)
    ptrace(PTRACE_DETACH, tracer.traced[i].id, 0, tracer.traced[i].signal);
}

void take_faults() {
  sigset_t set;
  sigfillset(&set);
  sigdelset(&set, SIGALRM);
  for (const int fault : {SIGSEGV, SIGBUS}) {
    struct sigaction action {};
    action.sa_handler = &on_fault;
    sigaction(fault, &action, nullptr);
    sigdelset(&set, fault);
  }
  sigprocmask(SIG_SETMASK, &set, nullptr);
}

int trace(void* argument) {
  Tracer& tracer = *static_cast<Tracer*>(argument);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGALRM, SIG_DFL);
  take_faults();
  alarm(kLongest);
  while (!tracer.go.load(std::memory_order_acquire)) sched_yield();
  while (stop_all(tracer)) {
  }
  if (tracer.forbidden) tracer.count = 0;
  tracer.look({tracer.stopped, static_cast<std::size_t>(tracer.count)}, tracer.argument);
  let_go(tracer);
  syscall(SYS_exit_group, 0);
  return 0;
}

bool run(Tracer& tracer) {
  constexpr int kShares = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_UNTRACED;  // no signal at its end
  const int child = clone(&trace, tracer.stack + kStack, kShares, &tracer);
  if (child < 0) return false;
  prctl(PR_SET_PTRACER, child);  // where Yama lets only ancestors trace
  tracer.go.store(true, std::memory_order_release);
  int status = 0;
  while (waitpid(child, &status, __WALL) < 0 && errno == EINTR) {
  }
  prctl(PR_SET_PTRACER, 0);
  return WIFEXITED(status);
}

}  // namespace

bool look_at_stopped(void (*look)(std::span<const StoppedThread> threads, void* argument), void* argument) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  void* const memory =
      mmap(nullptr, sizeof(Tracer), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  Tracer& tracer = *new (memory) Tracer;
  tracer.look = look;
  tracer.argument = argument;
  snprintf(tracer.directory, sizeof tracer.directory, "/proc/%d/task", getpid());
  const bool done = run(tracer);
  munmap(memory, sizeof(Tracer));
  return done;
}

bool survives(void (*function)(void* argument), void* argument) {
  if (sigsetjmp(g_survivor, 1) != 0) {
    g_may_crash = 0;
    return false;
  }
  g_may_crash = 1;
  function(argument);
  g_may_crash = 0;
  return true;
}

}  // namespace tmpi::launch
