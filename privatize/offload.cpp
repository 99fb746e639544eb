#include "privatize/offload.hpp"

#include <pthread.h>
#include <signal.h>
#include <time.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <new>

#include "base/no_signals.hpp"
#include "base/own_signals.hpp"
#include "base/own_thread.hpp"
#include "privatize/loader.hpp"
#include "privatize/rank_directory.hpp"
#include "privatize/rank_signals.hpp"
#include "privatize/sleep_hooks.hpp"
#include "privatize/thread_hooks.hpp"

namespace tmpi::privatize {
namespace {

constexpr std::uint64_t kAgain = 1'000'000;  // ns between two attempts to interrupt a call

// Interrupts a system call of a thread of the pool, and nothing else. A real-time signal, as the one by which
// node processes hear of tmpirun's end, because programs use the ordinary ones.
int interrupting_signal() noexcept {
  return number_of(OwnSignal::kInterruptCall);
}

struct Call {
  long (*run)(const void*);
  const void* argument;
  int rank;
  long result = 0;
  int error = 0;
  bool broken_pipe = false;       // the kernel has sent SIGPIPE to the thread that made it
  std::atomic<bool> done{false};  // release by the thread of the pool: the results are there
};

class PoolThread {
 public:
  static PoolThread* make() noexcept;
  void give(Call& call) noexcept {
    {
      const std::lock_guard guard(mutex_);
      call_ = &call;
    }
    given_.notify_one();
  }
  void interrupt() const noexcept { pthread_kill(thread_, interrupting_signal()); }

  PoolThread* next_idle = nullptr;

 private:
  [[noreturn]] void serve() noexcept;

  pthread_t thread_{};
  std::mutex mutex_;
  std::condition_variable given_;
  Call* call_ = nullptr;
};

// Threads are never ended: what they are in the middle of when the job ends, it ends with it.
std::mutex pool_mutex;
PoolThread* pool = nullptr;

// Handlers of the rank are kept away: they may make system calls, too.
PoolThread* take() noexcept {
  const NoSignals no_signals;
  {
    const std::lock_guard guard(pool_mutex);
    if (PoolThread* thread = pool) {
      pool = thread->next_idle;
      return thread;
    }
  }
  return PoolThread::make();
}

void give_back(PoolThread& thread) noexcept {
  const NoSignals no_signals;
  const std::lock_guard guard(pool_mutex);
  thread.next_idle = pool;
  pool = &thread;
}

// A SIGPIPE for the calling thread, which blocks it, is the rank's.
bool take_broken_pipe() noexcept {
  sigset_t broken;
  sigemptyset(&broken);
  sigaddset(&broken, SIGPIPE);
  const timespec now{};
  return sigtimedwait(&broken, nullptr, &now) == SIGPIPE;
}

void PoolThread::serve() noexcept {
  for (bool placed = false;; placed = true) {
    Call* call;
    {
      std::unique_lock lock(mutex_);
      given_.wait(lock, [this] { return call_ != nullptr; });
      call = call_;
      call_ = nullptr;
    }
    const int rank = call->rank;
    // Relative names, as of a local socket, are looked up in the rank's directory.
    if (!placed) {
      keep_directory(rank, true);
    } else if (of_thread(thread_has_directory)) {
      enter_directory(rank);
      enter_umask(rank);
    }
    call->result = call->run(call->argument);
    call->error = errno;
    if (call->result == -1 && call->error == EPIPE) call->broken_pipe = take_broken_pipe();
    call->done.store(true, std::memory_order_release);  // the call is gone from here on
    wake_rank(rank);
  }
}

PoolThread* PoolThread::make() noexcept {
  static const bool prepared = [] {
    struct sigaction nothing {};
    nothing.sa_handler = [](int) {};
    return sigaction(interrupting_signal(), &nothing, nullptr) == 0;
  }();
  auto* made = prepared ? new (std::nothrow) PoolThread : nullptr;
  if (made == nullptr) return nullptr;
  const auto serve = [](void* self) -> void* { static_cast<PoolThread*>(self)->serve(); };
  if (start_own_thread(serve, made, interrupting_signal(), &made->thread_)) return made;
  delete made;
  return nullptr;
}

// True if a signal has interrupted the call.
bool wait_for(const Call& call, const PoolThread& thread, const char* name,
              detail::OnSignal on_signal) noexcept {
  bool interrupted = false;
  // acquire pairs with the thread of the pool's release.
  while (!call.done.load(std::memory_order_acquire)) {
    if (has_signals(call.rank)) {
      // Again and again: it may not have come to its system call yet.
      if (on_signal != detail::OnSignal::kWaits) {
        interrupted = true;
        thread.interrupt();
      }
      suspend_rank(kAgain, name);
    } else {
      suspend_rank(kNoDeadline, name);
    }
  }
  return interrupted;
}

}  // namespace

long detail::offload_call(const char* name, OnSignal on_signal, long (*run)(const void*),
                          const void* argument) noexcept {
  const int error = own_errno();
  for (;;) {
    Call call{run, argument, running_rank()};
    bool interrupted = false;
    std::uint32_t before;
    {
      // A handler may leave by longjmp: not before the call, which lies here, is over.
      const DeferredSignals deferred(call.rank);
      PoolThread* const thread = take();
      if (thread == nullptr) break;
      before = signals_interrupting(call.rank);
      thread->give(call);
      interrupted = wait_for(call, *thread, name, on_signal);
      give_back(*thread);
    }
    deliver_signals(call.rank);
    const bool again = on_signal == OnSignal::kRestarts && interrupted && call.result == -1 &&
                       call.error == EINTR && signals_interrupting(call.rank) == before;
    if (again) continue;
    if (call.broken_pipe) raise(SIGPIPE);
    set_own_errno(call.result == -1 ? call.error : error);
    return call.result;
  }
  set_own_errno(error);
  return run(argument);
}

}  // namespace tmpi::privatize
