#include "sched/file_calls.hpp"

#include <atomic>
#include <cerrno>

#include "sched/files/file_ring.hpp"
#include "sched/task.hpp"
#include "sched/waiter.hpp"
#include "sched/worker/worker.hpp"

namespace tmpi::sched {
namespace {

// Relaxed: written before there are calls.
std::atomic<FileWay> the_way{FileWay::kAuto};
std::atomic<std::int64_t> the_limit{-1};
std::atomic<std::uint64_t> by_ring{0};

}  // namespace

void use_file_way(FileChoice choice) noexcept {
  the_way.store(choice.way, std::memory_order_relaxed);
  the_limit.store(choice.limit, std::memory_order_relaxed);
}

std::int64_t file_limit() noexcept {
  return the_limit.load(std::memory_order_relaxed);
}

bool has_file_ring() noexcept {
  inside_worker.assume();
  return the_way.load(std::memory_order_relaxed) != FileWay::kThreads &&
         worker_of(*current())->files().has_ring();
}

bool call_by_ring(const FileCall& call, ssize_t& result) noexcept {
  if (!has_file_ring()) return false;
  inside_worker.assume();
  Waiter waiter(1);
  FileRing::Answer answer{&waiter};
  if (!worker_of(*current())->files().give(call, answer)) return false;
  by_ring.fetch_add(1, std::memory_order_relaxed);
  waiter.wait();
  result = answer.result;
  if (answer.result >= 0) return true;
  errno = -answer.result;
  result = -1;
  return true;
}

std::uint64_t calls_by_ring() noexcept {
  return by_ring.load(std::memory_order_relaxed);
}

}  // namespace tmpi::sched
