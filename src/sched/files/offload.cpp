#include "sched/offload.hpp"

#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <utility>

#include "base/mutex.hpp"
#include "base/own_thread.hpp"
#include "sched/file_calls.hpp"
#include "sched/machine/topology.hpp"
#include "sched/waiter.hpp"

namespace tmpi::sched {

struct detail::OffloadedCall {
  void (*run)(void*) noexcept;
  void* argument;
  Waiter* waiter;
  Strand* strand;
  OffloadedCall* next = nullptr;
};

namespace {

std::atomic<int> under_way{0};
std::atomic<std::uint64_t> by_pool{0};

using Call = detail::OffloadedCall;

void append(Call*& first, Call*& last, Call& call) noexcept {
  (last != nullptr ? last->next : first) = &call;
  last = &call;
}

Call* take_first(Call*& first, Call*& last) noexcept {
  Call* const call = first;
  first = call->next;
  if (first == nullptr) last = nullptr;
  return call;
}

}  // namespace

// Threads are never ended: what they are in the middle of when the job ends, ends with it.
class OffloadPool {
 public:
  void give(Call& call) noexcept {
    bool grow;
    {
      const MutexLock lock(mutex_);
      if (Strand* const strand = call.strand) {
        if (strand->busy_) return append(strand->first_, strand->last_, call);
        strand->busy_ = true;
      }
      append(first_, last_, call);
      ++waiting_;
      grow = waiting_ > idle_ && threads_ < kMostFileThreads;
      if (grow) ++threads_;
    }
    if (!grow) {
      given_.notify_one();
    } else if (!start_own_thread(&OffloadPool::serve, this)) {
      do_without_thread();
    }
  }

  std::shared_ptr<const Affinity> affinity() noexcept {
    const MutexLock lock(mutex_);
    return affinity_;
  }
  void set_affinity(std::shared_ptr<const Affinity> affinity) noexcept {
    const MutexLock lock(mutex_);
    affinity_.swap(affinity);
  }

 private:
  static void* serve(void* self) {
    use_offload_affinity();
    pthread_setname_np(pthread_self(), "tmpi-files");
    for (;;) static_cast<OffloadPool*>(self)->serve_next();
  }

  void serve_next() noexcept {
    Call* call;
    {
      MutexLock lock(mutex_);
      ++idle_;
      given_.wait(lock.held(), [this]() TMPI_REQUIRES(mutex_) { return first_ != nullptr; });
      --idle_;
      call = take();
    }
    make(call);
  }

  // Those that exist go on; without any, whoever fails to make the last one does what all have left.
  void do_without_thread() noexcept {
    for (;;) {
      Call* call;
      {
        const MutexLock lock(mutex_);
        if (threads_ > 1 || first_ == nullptr) {
          --threads_;
          given_.notify_one();
          return;
        }
        call = take();
      }
      make(call);
    }
  }

  Call* take() noexcept TMPI_REQUIRES(mutex_) {
    --waiting_;
    return take_first(first_, last_);
  }

  // It, and what waits in its strand. A call and its strand may be gone when its task has been woken.
  void make(Call* call) noexcept {
    while (call != nullptr) {
      call->run(call->argument);
      Call* const next = call->strand != nullptr ? next_of(*call->strand) : nullptr;
      call->waiter->complete();
      under_way.fetch_sub(1);
      call = next;
    }
  }

  Call* next_of(Strand& strand) noexcept {
    const MutexLock lock(mutex_);
    if (strand.first_ != nullptr) return take_first(strand.first_, strand.last_);
    strand.busy_ = false;
    return nullptr;
  }

  Mutex mutex_;  // of the strands, too
  std::condition_variable given_;
  Call* first_ TMPI_GUARDED_BY(mutex_) = nullptr;
  Call* last_ TMPI_GUARDED_BY(mutex_) = nullptr;
  int waiting_ TMPI_GUARDED_BY(mutex_) = 0;  // calls in the queue
  int idle_ TMPI_GUARDED_BY(mutex_) = 0;     // threads that wait for one
  int threads_ TMPI_GUARDED_BY(mutex_) = 0;
  std::shared_ptr<const Affinity> affinity_ TMPI_GUARDED_BY(mutex_);
};

namespace {

// Never destroyed: its threads use it until the process has ended.
OffloadPool& pool() {
  static OffloadPool& the_pool = *new OffloadPool;
  return the_pool;
}

}  // namespace

void detail::offload(void (*run)(void*) noexcept, void* argument, Strand* strand) noexcept {
  Waiter waiter(1);
  OffloadedCall call{run, argument, &waiter, strand};
  under_way.fetch_add(1);
  by_pool.fetch_add(1, std::memory_order_relaxed);
  pool().give(call);
  waiter.wait();
}

void detail::count_offloaded(int change) noexcept {
  under_way.fetch_add(change);
}

std::uint64_t calls_by_pool() noexcept {
  return by_pool.load(std::memory_order_relaxed);
}

int offloaded() noexcept {
  return under_way.load();
}

bool await_offloaded() noexcept {
  for (int i = 0; i < 100'000 && offloaded() > 0; ++i) sched_yield();
  return offloaded() == 0;
}

void use_offload_affinity() noexcept {
  if (const auto affinity = offload_affinity()) affinity->apply();
}

std::shared_ptr<const Affinity> offload_affinity() noexcept {
  return pool().affinity();
}

void set_offload_affinity(std::shared_ptr<const Affinity> affinity) noexcept {
  pool().set_affinity(std::move(affinity));
}

}  // namespace tmpi::sched
