#include "launch/spec/job_spec.hpp"

#include <utility>

#include "launch/wire/fields.hpp"

namespace tmpi::launch {
namespace {

constexpr const char* kCutShort =
    "the job description from tmpirun is cut short: tmpirun and tmpi-node differ in version";

}  // namespace

int JobSpec::total_ranks() const {
  int total = 0;
  for (const AppSpec& app : apps) total += app.ranks;
  return total;
}

int JobSpec::app_of(int rank) const {
  for (std::size_t index = 0; index < apps.size(); ++index) {
    if (rank < apps[index].ranks) return static_cast<int>(index);
    rank -= apps[index].ranks;
  }
  return -1;
}

void fields(auto& archive, Of<AppSpec> auto& app) {
  archive(app.ranks, app.program, app.arguments, app.environment, app.wdir);
}

void fields(auto& archive, Of<RankCore> auto& core) {
  archive(core.socket, core.core);
}

void fields(auto& archive, Of<OptionValue> auto& option) {
  archive(option.name, option.value, option.help);
}

void fields(auto& archive, Of<JobSpec> auto& job) {
  archive(job.apps, job.vratio, job.workers, job.cpus_per_rank, job.stack_size, job.default_stack, job.cores,
          job.bind, job.report_bindings, job.policy, job.balance, job.file_io, job.file_limit, job.sleep,
          job.rank_pids, job.preempt, job.input_rank, job.coll, job.net, job.eager_limit, job.eager_release,
          job.rendezvous, job.progress, job.progress_cores, job.other_jobs, job.deadlock_check,
          job.polling_limit, job.quiet, job.verbose, job.check, job.profile, job.trace_file, job.trace_buffer,
          job.record_file, job.replay_file, job.explored_file, job.migratable, job.slot_bytes,
          job.stack_guard, job.pointer_guard, job.checkpoints, job.checkpoint_every, job.checkpoint_to,
          job.survive, job.memory_store, job.from_memory, job.checkpoint, job.restart, job.shared_libraries,
          job.private_libraries, job.options);
}

std::string pack(const JobSpec& job) {
  return packed(job);
}

Result<JobSpec> unpack_job(std::string_view payload) {
  Result<JobSpec> job = unpacked<JobSpec>(payload, kCutShort);
  if (job && !job->cores.empty() && std::cmp_not_equal(job->cores.size(), job->total_ranks()))
    return Failure{kCutShort};
  return job;
}

}  // namespace tmpi::launch
