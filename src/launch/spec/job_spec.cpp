#include "launch/spec/job_spec.hpp"

#include "launch/wire/frames.hpp"

namespace tmpi::launch {

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

std::string pack(const JobSpec& job) {
  Packer packer;
  packer.number(static_cast<std::int64_t>(job.apps.size()));
  for (const AppSpec& app : job.apps) {
    packer.number(app.ranks);
    packer.text(app.program);
    packer.texts(app.arguments);
    packer.texts(app.environment);
    packer.text(app.wdir);
  }
  packer.number(job.vratio);
  packer.number(job.workers);
  packer.number(static_cast<std::int64_t>(job.stack_size));
  packer.number(job.bind);
  packer.number(job.report_bindings);
  packer.text(job.policy);
  packer.text(job.balance);
  packer.text(job.file_io);
  packer.number(job.file_limit);
  packer.number(job.sleep_yields);
  packer.text(job.coll);
  packer.text(job.net);
  packer.number(job.eager_limit);
  packer.number(job.eager_release);
  packer.text(job.rendezvous);
  packer.text(job.progress);
  packer.number(job.progress_cores);
  packer.number(job.other_jobs);
  packer.number(job.deadlock_check);
  packer.number(job.polling_limit);
  packer.number(job.quiet);
  packer.number(job.verbose);
  packer.number(job.check);
  packer.number(job.profile);
  packer.text(job.trace_file);
  packer.number(static_cast<std::int64_t>(job.trace_buffer));
  packer.number(static_cast<std::int64_t>(job.options.size()));
  for (const OptionValue& option : job.options) {
    packer.text(option.name);
    packer.text(option.value);
    packer.text(option.help);
  }
  return packer.bytes();
}

Result<JobSpec> unpack_job(std::string_view payload) {
  Unpacker unpacker(payload);
  JobSpec job;
  for (std::int64_t left = unpacker.number(); left > 0 && unpacker.ok(); --left) {
    AppSpec app;
    app.ranks = static_cast<int>(unpacker.number());
    app.program = unpacker.text();
    unpacker.texts(app.arguments);
    unpacker.texts(app.environment);
    app.wdir = unpacker.text();
    job.apps.push_back(std::move(app));
  }
  job.vratio = static_cast<int>(unpacker.number());
  job.workers = static_cast<int>(unpacker.number());
  job.stack_size = static_cast<std::size_t>(unpacker.number());
  job.bind = unpacker.number() != 0;
  job.report_bindings = unpacker.number() != 0;
  job.policy = unpacker.text();
  job.balance = unpacker.text();
  job.file_io = unpacker.text();
  job.file_limit = unpacker.number();
  job.sleep_yields = unpacker.number() != 0;
  job.coll = unpacker.text();
  job.net = unpacker.text();
  job.eager_limit = unpacker.number();
  job.eager_release = unpacker.number();
  job.rendezvous = unpacker.text();
  job.progress = unpacker.text();
  job.progress_cores = static_cast<int>(unpacker.number());
  job.other_jobs = unpacker.number() != 0;
  job.deadlock_check = unpacker.number() != 0;
  job.polling_limit = static_cast<int>(unpacker.number());
  job.quiet = unpacker.number() != 0;
  job.verbose = unpacker.number() != 0;
  job.check = unpacker.number() != 0;
  job.profile = unpacker.number() != 0;
  job.trace_file = unpacker.text();
  job.trace_buffer = static_cast<std::size_t>(unpacker.number());
  for (std::int64_t left = unpacker.number(); left > 0 && unpacker.ok(); --left) {
    OptionValue& option = job.options.emplace_back();
    option.name = unpacker.text();
    option.value = unpacker.text();
    option.help = unpacker.text();
  }
  if (!unpacker.ok())
    return Failure{"the job description from tmpirun is cut short: tmpirun and tmpi-node differ in version"};
  return job;
}

}  // namespace tmpi::launch
