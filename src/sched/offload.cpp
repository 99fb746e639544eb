#include "sched/offload.hpp"

#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <mutex>

#include "base/own_thread.hpp"
#include "sched/file_calls.hpp"
#include "sched/topology.hpp"
#include "sched/waiter.hpp"

namespace tmpi::sched {
namespace {

struct Job {
  void (*run)(void*) noexcept;
  void* argument;
  Waiter* waiter;
  Job* next = nullptr;
};

std::atomic<int> under_way{0};
std::atomic<std::uint64_t> by_pool{0};
std::atomic<const SavedAffinity*> pool_affinity{nullptr};

// Threads are never ended: what they are in the middle of when the job ends, ends with it.
class Pool {
 public:
  void give(Job& job) noexcept {
    bool grow;
    {
      const std::lock_guard guard(mutex_);
      (last_ != nullptr ? last_->next : first_) = &job;
      last_ = &job;
      ++waiting_;
      grow = waiting_ > idle_ && threads_ < kMostFileThreads;
      if (grow) ++threads_;
    }
    if (!grow) {
      given_.notify_one();
    } else if (!start_own_thread(&Pool::serve, this)) {
      do_without_thread();
    }
  }

 private:
  static void* serve(void* self) {
    use_offload_affinity();
    pthread_setname_np(pthread_self(), "tmpi-files");
    for (;;) static_cast<Pool*>(self)->serve_next();
  }

  void serve_next() noexcept {
    Job* job;
    {
      std::unique_lock lock(mutex_);
      ++idle_;
      given_.wait(lock, [this] { return first_ != nullptr; });
      --idle_;
      job = take();
    }
    finish(*job);
  }

  // Those that exist go on; without any, whoever fails to make the last one does what all have left.
  void do_without_thread() noexcept {
    for (;;) {
      Job* job;
      {
        const std::lock_guard guard(mutex_);
        if (threads_ > 1 || first_ == nullptr) {
          --threads_;
          given_.notify_one();
          return;
        }
        job = take();
      }
      finish(*job);
    }
  }

  Job* take() noexcept {
    Job* job = first_;
    first_ = job->next;
    if (first_ == nullptr) last_ = nullptr;
    --waiting_;
    return job;
  }

  static void finish(Job& job) noexcept {
    job.run(job.argument);
    job.waiter->complete();  // the job is gone from here on
    under_way.fetch_sub(1);
  }

  std::mutex mutex_;
  std::condition_variable given_;
  Job* first_ = nullptr;
  Job* last_ = nullptr;
  int waiting_ = 0;  // jobs in the queue
  int idle_ = 0;     // threads that wait for one
  int threads_ = 0;
};

// Never destroyed: its threads use it until the process has ended.
Pool& pool() {
  static Pool& the_pool = *new Pool;
  return the_pool;
}

}  // namespace

void detail::offload(void (*run)(void*) noexcept, void* argument) noexcept {
  Waiter waiter(1);
  Job job{run, argument, &waiter};
  under_way.fetch_add(1);
  by_pool.fetch_add(1, std::memory_order_relaxed);
  pool().give(job);
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
  if (const SavedAffinity* affinity = offload_affinity()) affinity->apply();
}

const SavedAffinity* offload_affinity() noexcept {
  return pool_affinity.load(std::memory_order_acquire);
}

void set_offload_affinity(const SavedAffinity* affinity) noexcept {
  pool_affinity.store(affinity, std::memory_order_release);
}

}  // namespace tmpi::sched
