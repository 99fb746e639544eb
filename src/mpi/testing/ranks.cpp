#include "mpi/testing/ranks.hpp"

#include <cstdio>
#include <cstdlib>

#include "mpi/init/lifetime.hpp"
#include "mpi/p2p/channel.hpp"
#include "mpi/rank/callbacks.hpp"
#include "sched/scheduler.hpp"

namespace tmpi::mpi::testing {
namespace {

const std::function<void(Rank&)>* the_body;

void abort_job(Rank&, int code, std::string_view text) {
  std::fprintf(stderr, "the job was aborted with code %d: %.*s\n", code, static_cast<int>(text.size()),
               text.data());
  std::abort();
}

void rank_main(void* argument) {
  Rank& rank = *static_cast<Rank*>(argument);
  if (initialize(rank, MPI_THREAD_SINGLE)) std::abort();
  (*the_body)(rank);
  if (finalize(rank)) std::abort();
}

}  // namespace

void run_ranks(int ranks, int workers, const std::function<void(Rank&)>& body, const char* policy) {
  register_callbacks({.abort_job = abort_job});
  sched::Options options;
  options.workers = workers;
  options.tasks = ranks;
  options.policy = policy;
  options.bind = false;
  auto scheduler = sched::Scheduler::create(options);
  if (!scheduler) {
    std::fprintf(stderr, "%s\n", scheduler.message().c_str());
    std::abort();
  }
  Job& job = Job::create(Placement(ranks));
  the_body = &body;
  connect_workers(**scheduler);
  const int per_worker = (ranks + workers - 1) / workers;
  for (int i = 0; i < ranks; ++i) {
    Rank& rank = *job.local(i);
    rank.task = &(*scheduler)->spawn(i / per_worker, rank_main, &rank, &rank);
  }
  (*scheduler)->run();
}

}  // namespace tmpi::mpi::testing
