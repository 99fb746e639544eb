#include "mpi/rank/forked.hpp"

#include <pthread.h>
#include <unistd.h>

#include <atomic>

#include "mpi/base/format_into.hpp"
#include "mpi/rank/rank.hpp"
#include "mpi/rank/threads.hpp"
#include "sched/scheduler.hpp"

namespace tmpi::mpi {
namespace {

std::atomic<bool> forked{false};
int parent_rank = -1;

void begin_child() noexcept {
  const Rank* rank = calling_rank();
  if (rank == nullptr) return;  // no rank's doing, or a child's child
  parent_rank = rank->world_rank;
  forked.store(true, std::memory_order_relaxed);
  sched::forget_this_thread();
}

}  // namespace

void watch_for_forks() noexcept {
  pthread_atfork(nullptr, nullptr, &begin_child);
}

bool in_forked_child() noexcept {
  return forked.load(std::memory_order_relaxed);
}

void refuse_in_forked_child(std::string_view name, int exit_code) noexcept {
  char text[512];
  const std::string_view sentence = format_into(
      text,
      "tmpi: {} called by process {}, a child that rank {} on {} has forked: MPI belongs to the rank, whose "
      "connections the child must not use. Call it in the parent; the child has been ended\n",
      name, getpid(), parent_rank, job()->host());
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, sentence.data(), sentence.size());
  _exit(exit_code);
}

}  // namespace tmpi::mpi
