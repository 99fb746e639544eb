// Threads that a rank creates itself (pthread_create, std::thread, OpenMP): each carries its rank's number,
// its own copies of the rank's thread-local blocks and its share of the static pool.
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>

#include "privatize/live_threads.hpp"
#include "privatize/loader.hpp"
#include "privatize/own_affinity.hpp"
#include "privatize/processor_time.hpp"
#include "privatize/pthread_keys.hpp"
#include "privatize/rank_directory.hpp"
#include "privatize/rank_locale.hpp"
#include "privatize/rank_signal_mask.hpp"
#include "privatize/rank_state.hpp"
#include "privatize/runtime_functions.hpp"
#include "privatize/switch_duties.hpp"
#include "privatize/thread_context.hpp"
#include "privatize/thread_hooks.hpp"
#include "privatize/x87_flags.hpp"

namespace tmpi::privatize {
namespace {

ThreadHooks the_hooks{};
std::atomic<bool> threads_exist{false};  // relaxed: a rank's own are made by itself or known to it

struct LiveThread {
  int rank = -1;                  // whose it is
  ThreadEvent* joiner = nullptr;  // who waits for its end; null: nobody does
};

// The threads that have not ended. The table is held while a thread is created, so that it is complete when the thread
// ends or somebody joins it.
struct LiveThreads {
  std::mutex mutex;
  std::unordered_map<pthread_t, LiveThread> table;
};
LiveThreads& live_threads() {
  static LiveThreads& threads = *new LiveThreads;  // threads may outlive everything
  return threads;
}

void announce_end() {
  LiveThreads& threads = live_threads();
  ThreadEvent* joiner = nullptr;
  {
    const std::scoped_lock guard(threads.mutex);
    auto self = threads.table.extract(pthread_self());
    if (!self.empty()) joiner = self.mapped().joiner;
    keep_processor_time(thread_context().rank);  // with the list held: a reader sees it there or here
  }
  if (joiner != nullptr) joiner->happen();
}

// Returns when the thread is about to end, so that joining it takes no time; other ranks run meanwhile.
void suspend_until_end(pthread_t thread) {
  LiveThreads& threads = live_threads();
  ThreadEvent end;
  {
    const std::scoped_lock guard(threads.mutex);
    auto entry = threads.table.find(thread);
    if (entry == threads.table.end() || entry->second.joiner != nullptr) return;
    entry->second.joiner = &end;
  }
  end.wait("pthread_join");
}

struct Start {
  int rank;
  bool has_directory;  // the thread that makes it has one of its own
  bool takes_cores;    // it inherits those of the rank's own flow of control
  void* (*function)(void*);
  void* argument;
};

/// libc runs key destructors after those of C++ thread_local objects: the copies may be freed only then.
void end_helper(void*) {
  RankState* state = rank_state(thread_context().rank);
  if (state != nullptr) end_helper_keys(*state, thread_context().keys);
  thread_context().keys = nullptr;
  delete thread_context().copies;
  thread_context().copies = nullptr;
  announce_end();
}

pthread_key_t end_key() {
  static const pthread_key_t key = [] {
    pthread_key_t made = 0;
    ::pthread_key_create(&made, &end_helper);
    return made;
  }();
  return key;
}

void* run_helper(void* opaque) {
  const std::unique_ptr<Start> owned(static_cast<Start*>(opaque));
  const Start start = *owned;
  become_helper(start.rank);
  keep_directory(start.rank, start.has_directory);
  if (start.takes_cores) follow_choice(start.rank);
  start_in_locale(start.rank);
  return start.function(start.argument);
}

using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

Create real_create() {
  static const auto real = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return real;
}

using Join = int (*)(pthread_t, void**);

Join real_join() {
  static const auto real = reinterpret_cast<Join>(dlsym(RTLD_NEXT, "pthread_join"));
  return real;
}

// Of a thread that the calling one makes. Libc has no other way to ask whether the attributes name cores: if not, it
// says all that there can be.
bool inherits_cores(const pthread_attr_t* attributes) noexcept {
  if (thread_context().helper) return false;  // from the kernel, as ever
  if (attributes == nullptr) return true;
  cpu_set_t named;
  return pthread_attr_getaffinity_np(attributes, sizeof named, &named) != 0 ||
         CPU_COUNT(&named) == CPU_SETSIZE;
}

int create_helper(int rank, pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                  void* argument) {
  std::unique_ptr<Start> start(new (std::nothrow) Start{rank, of_thread(thread_has_directory),
                                                        inherits_cores(attributes), function, argument});
  if (start == nullptr) return EAGAIN;
  threads_exist.store(true, std::memory_order_relaxed);
  if (the_hooks.created != nullptr && !thread_context().helper && !in_forked_child()) the_hooks.created(rank);
  LiveThreads& threads = live_threads();
  const std::scoped_lock guard(threads.mutex);
  // Made first: a thread that runs cannot be taken back.
  std::unordered_map<pthread_t, LiveThread>::node_type entry;
  try {
    threads.table.reserve(threads.table.size() + 1);
    entry = threads.table.extract(threads.table.try_emplace(pthread_t{}, LiveThread{rank, nullptr}).first);
  } catch (const std::bad_alloc&) {
    return EAGAIN;
  }
  const int error = real_create()(thread, attributes, &run_helper, start.get());
  if (error != 0) return error;
  static_cast<void>(start.release());
  threads.table.erase(*thread);  // of one that has ended and was never joined: numbers come again
  entry.key() = *thread;
  threads.table.insert(std::move(entry));
  return 0;
}

// Kept out of the way of switches, which mostly have none.
[[gnu::noinline]] void do_switch_duties(int from, int to) noexcept {
  if (of_thread(thread_has_directory)) enter_directory(to);
  const unsigned duties = switch_duties.load(std::memory_order_relaxed);
  if ((duties & kCountTime) != 0) switch_processor_time(from, to);
  if ((duties & kEnterLocale) != 0) enter_locale(to);
  if ((duties & kEnterUmask) != 0) enter_umask(to);
  if ((duties & kSwitchSignalMask) != 0) switch_signal_mask(from, to);
  if ((duties & kSwitchX87Flags) != 0) switch_x87_flags(from, to);
}

std::atomic<bool> forked{false};

// After fork(2) the child has one thread, a worker's: it must finish its own work and leave, never schedule
// other ranks.
struct ForkWatch {
  ForkWatch() {
    // A node process on another machine is a child itself, of its supervisor, which is no rank.
    pthread_atfork(nullptr, nullptr, [] {
      OwnThreadPointer::keep_in_child();
      if (thread_context().rank >= 0) forked.store(true, std::memory_order_relaxed);
    });
  }
} fork_watch;

}  // namespace

bool on_own_flow(int rank) noexcept {
  return thread_context().rank == rank && !thread_context().helper;
}

bool threads_have_been_created() noexcept {
  return threads_exist.load(std::memory_order_relaxed);
}

bool has_live_threads(int rank) {
  LiveThreads& threads = live_threads();
  const std::scoped_lock guard(threads.mutex);
  return std::ranges::any_of(threads.table, [rank](const auto& one) { return one.second.rank == rank; });
}

bool is_live_thread(pthread_t thread) noexcept {
  if (!threads_have_been_created()) return false;
  LiveThreads& threads = live_threads();
  const std::scoped_lock guard(threads.mutex);
  return threads.table.contains(thread);
}

std::uint64_t processor_time_of_threads(int rank) noexcept {
  constexpr int kAttempts = 10'000;  // the calling thread itself may hold the list
  LiveThreads& threads = live_threads();
  int attempts = 0;
  while (!threads.mutex.try_lock()) {
    if (++attempts == kAttempts) return 0;
    sched_yield();
  }
  const std::lock_guard guard(threads.mutex, std::adopt_lock);
  std::uint64_t sum = kept_processor_time(rank);
  for (const auto& [thread, live] : threads.table) {
    clockid_t clock{};
    timespec time{};
    if (live.rank == rank && pthread_getcpuclockid(thread, &clock) == 0 && clock_gettime(clock, &time) == 0)
      sum +=
          static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
  }
  return sum;
}

bool in_forked_child() noexcept {
  return forked.load(std::memory_order_relaxed);
}

extern "C" __attribute__((visibility("default"))) int tmpi_in_forked_child() {
  return in_forked_child() ? 1 : 0;
}
extern "C" __attribute__((visibility("default"))) int tmpi_on_helper_thread() {
  return thread_context().helper ? 1 : 0;
}
extern "C" __attribute__((visibility("default"))) int tmpi_may_suspend() {
  return may_suspend() ? 1 : 0;
}
extern "C" __attribute__((visibility("default"))) void tmpi_thread_event_happen(void* event) {
  static_cast<ThreadEvent*>(event)->happen();
}
extern "C" __attribute__((visibility("default"))) void tmpi_thread_event_wait(void* event,
                                                                              const char* where) {
  static_cast<ThreadEvent*>(event)->wait(where);
}

void become_helper(int rank) noexcept {
  thread_context().rank = rank;
  thread_context().helper = true;
  ::pthread_setspecific(end_key(), &thread_context());
  if (const RankState* state = rank_state(rank)) {
    state->for_each_image([](const ImageSet& set, int index) { initialise_static_tls(set, index); });
  }
}

void set_thread_hooks(const ThreadHooks& hooks) noexcept {
  the_hooks = hooks;
}

bool may_suspend() noexcept {
  return the_hooks.wait != nullptr && thread_context().rank >= 0 && !thread_context().helper &&
         !in_forked_child() && the_hooks.in_user_code();
}

bool may_wait_for_threads() noexcept {
  return threads_exist.load(std::memory_order_relaxed) && may_suspend();
}

void let_others_run() noexcept {
  the_hooks.yield();
}

void ThreadEvent::happen() noexcept {
  const std::uintptr_t waiter = state_.exchange(kDone, std::memory_order_acq_rel);
  if (waiter != kPending) the_hooks.wake(reinterpret_cast<void*>(waiter));
}

void ThreadEvent::wait(const char* where) noexcept {
  the_hooks.wait(*this, where);
}

void stay_on_thread(int rank) noexcept {
  if (the_hooks.stays != nullptr) the_hooks.stays(rank);
}

void run_with(ThreadPointer& pointer) noexcept {
  the_hooks.takes_thread_pointer(pointer);
}

int create_own_thread(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                      void* argument) {
  return real_create()(thread, attributes, function, argument);
}

void join_own_thread(pthread_t thread) noexcept {
  real_join()(thread, nullptr);
}

void tell_of_choice(int rank) noexcept {
  if (the_hooks.chooses_cores != nullptr) the_hooks.chooses_cores(rank);
}

void set_running_rank(int rank) noexcept {
  const int before = thread_context().rank;
  thread_context().rank = rank;
  if (switch_duties.load(std::memory_order_relaxed) != 0) [[unlikely]]
    do_switch_duties(before, rank);
}

__attribute__((noinline)) int running_rank() noexcept {
  return thread_context().rank;
}

struct ThrdStart {
  thrd_start_t function;
  void* argument;
};

extern "C" int tmpi_thrd_join(thrd_t thread, int* result) {
  if (may_suspend()) suspend_until_end(thread);
  // Its thread was made by pthread_create, so this is what ends it, also for tools that watch both.
  void* value = nullptr;
  if (real_join()(thread, &value) != 0) return thrd_error;
  if (result != nullptr) *result = static_cast<int>(reinterpret_cast<std::intptr_t>(value));
  return thrd_success;
}

extern "C" int tmpi_thrd_create(thrd_t* thread, thrd_start_t function, void* argument) {
  auto run = [](void* opaque) -> void* {
    const std::unique_ptr<ThrdStart> owned(static_cast<ThrdStart*>(opaque));
    const ThrdStart start = *owned;
    return reinterpret_cast<void*>(static_cast<std::intptr_t>(start.function(start.argument)));
  };
  auto* start = new (std::nothrow) ThrdStart{function, argument};
  if (start == nullptr) return thrd_nomem;
  const int error = pthread_create(thread, nullptr, run, start);
  if (error == 0) return thrd_success;
  delete start;
  return error == ENOMEM ? thrd_nomem : thrd_error;
}

}  // namespace tmpi::privatize

extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* thread,
                                                                     const pthread_attr_t* attributes,
                                                                     void* (*function)(void*),
                                                                     void* argument) {
  const int rank = tmpi::privatize::thread_context().rank;
  if (rank < 0) return tmpi::privatize::real_create()(thread, attributes, function, argument);
  return tmpi::privatize::create_helper(rank, thread, attributes, function, argument);
}

extern "C" __attribute__((visibility("default"))) int pthread_join(pthread_t thread, void** result) {
  if (tmpi::privatize::may_suspend()) tmpi::privatize::suspend_until_end(thread);
  return tmpi::privatize::real_join()(thread, result);
}
