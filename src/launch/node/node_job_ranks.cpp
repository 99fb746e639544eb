// The ranks of a NodeJob, from the first page of their images to the rules by which they leave.
#include <fmt/format.h>
#include <string.h>

#include <new>
#include <utility>

#include "launch/control/control.hpp"
#include "launch/node/migration.hpp"
#include "launch/node/node_job.hpp"
#include "launch/system/no_memory.hpp"
#include "privatize/children.hpp"
#include "privatize/processor_time.hpp"
#include "privatize/rank_directory.hpp"
#include "privatize/rank_locale.hpp"
#include "privatize/rank_signal_mask.hpp"
#include "privatize/rank_signals.hpp"
#include "privatize/record_locks.hpp"

namespace tmpi::launch {

void NodeJob::run_rank(void* argument) {
  // Mapped here, on the rank's own worker, so that its memory is first touched on that worker's NUMA node.
  const RankStart& start = *static_cast<const RankStart*>(argument);
  Result<void> mapped;
  std::vector<std::string> environment;
  try {
    mapped = start.program->map_image(start.image, start.rank);
    environment = start.job->environment_of(start.local, *start.app);
  } catch (const std::bad_alloc&) {
    no_memory_for("its environment and its copy of the program's data");
  }
  if (!mapped) {
    Control::instance()->end_job(
        EndKind::kStartFailed, start.rank, 1,
        fmt::format("rank {} on host {}: {}", start.rank, start.job->mpi_->host(), mapped.message()));
  }
  const auto index = static_cast<std::size_t>(start.app - start.job->spec_.apps.data());
  const std::string& wdir = start.job->wdirs_[index];
  if (wdir != start.job->wdir_ && !privatize::choose_directory(start.rank, wdir.c_str())) {
    Control::instance()->end_job(
        EndKind::kStartFailed, start.rank, 1,
        fmt::format("rank {} on host {}: --wdir {}: cannot change to the directory: {}", start.rank,
                    start.job->mpi_->host(), wdir, strerror(errno)));
  }
  const ult::Stack& stack = sched::current()->stack;
  privatize::tell_stack(start.rank, stack.base, stack.size);
  if (start.job->spec_.revived()) revive_rank(start.job->spec_, start.job->mpi_->local_at(start.local));
  start.program->run_image(start.image, start.job->arguments_[index], std::move(environment));
}

void NodeJob::on_initialized(const mpi::Rank&) {
  // Sequentially consistent, as in rank_exited: of a rank that enters MPI and one that leaves before
  // MPI_Init, one sees the other.
  if (initialized_.fetch_add(1) == 0 && node_.nodes() > 1)
    Control::instance()->send(FrameType::kUsesMpi, -1, 0, {});
  const int left = left_before_init_.load();
  if (left >= 0)
    break_rule(left, 1, "ended without having called MPI_Init, but other ranks of the job use MPI");
}

void NodeJob::rank_exited(int rank, int code) {
  code &= 0xff;
  const mpi::Phase phase = mpi_->local(rank)->phase;
  if (phase == mpi::Phase::kInitialized) {
    break_rule(rank, code, fmt::format("ended with exit code {} without having called MPI_Finalize", code));
  }
  if (phase == mpi::Phase::kBeforeInit) {
    int none = -1;
    left_before_init_.compare_exchange_strong(none, rank);
    if (initialized_.load() > 0) {
      break_rule(
          rank, code,
          fmt::format(
              "ended with exit code {} without having called MPI_Init, but other ranks of the job use MPI",
              code));
    }
  }
  if (const sched::Task* task = sched::current(); task == nullptr || task->kind == sched::TaskKind::kThread) {
    // exit() in a helper thread: the rank's own flow of control is somewhere else, and nothing can take it
    // away from there.
    break_rule(rank, code, fmt::format("called exit with code {} in a thread that it had created", code));
  }
  privatize::end_signals(rank);
  privatize::forget_directory(rank);
  privatize::drop_all_record_locks(rank);
  privatize::forget_locale(rank);
  privatize::forget_signal_mask(rank);
  Control::instance()->input().leave(rank);
  privatize::abandon_children(rank);
  std::string record;
  append_record(record, ExitRecord{rank, code, phase != mpi::Phase::kBeforeInit});
  Control::instance()->send(FrameType::kExits, -1, 0, record);
  scheduler_->finish_current();
  __builtin_unreachable();  // gcc forgets [[noreturn]] of a virtual function
}

void NodeJob::break_rule(int rank, int code, const std::string& what) {
  Control::instance()->end_job(
      EndKind::kBadExit, rank, code == 0 ? 1 : code,
      fmt::format("rank {} on host {} {}; the job has been ended", rank, mpi_->host(), what));
}

}  // namespace tmpi::launch
