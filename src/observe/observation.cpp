#include "observe/observation.hpp"

#include "observe/trace_collect.hpp"

namespace tmpi::observe {
namespace {

Observation* the_observation = nullptr;  // written before any rank runs; lives as long as the process

}  // namespace

Observation* Observation::instance() noexcept {
  return the_observation;
}

void Observation::prepare(const RecordingOptions& options) {
  the_observation = new Observation(options);
}

Result<void> Observation::begin(sched::Scheduler& scheduler) const {
  return Recording::begin(scheduler, options_);
}

void Observation::finish(const JobDescription& job, DescribeCode describe, const TakeReport& take) {
  Recording* recording = Recording::instance();
  if (recording == nullptr || finished_.exchange(true)) return;
  recording->stop();
  CallSites sites(describe);
  if (options_.trace) {
    collect_trace(*recording, job, sites, [&](std::string_view piece) { take(ReportKind::kTrace, piece); });
  }
  if (options_.profile) take(ReportKind::kProfile, pack_profile(collect_profile(*recording, job, sites)));
}

}  // namespace tmpi::observe
