#include "observe/observation.hpp"

#include <errno.h>
#include <fmt/core.h>
#include <string.h>

#include "base/file_size_limit.hpp"
#include "observe/trace_writer.hpp"

namespace tmpi::observe {
namespace {

Observation* the_observation = nullptr;  // written before any rank runs; lives as long as the process

Result<std::FILE*> open(const char* option, const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "we");
  if (file == nullptr)
    return Failure{fmt::format("{} {}: cannot write the file: {}", option, path, strerror(errno))};
  return file;
}

std::string megabytes(std::uint64_t bytes) {
  return fmt::format("{}M", (bytes >> 20) + 1);
}

}  // namespace

Observation* Observation::instance() noexcept {
  return the_observation;
}

Result<void> Observation::prepare(const ObservationOptions& options) {
  the_observation = new Observation(options);
  if (!options.trace_file.empty()) {
    Result<std::FILE*> file = open("--trace", options.trace_file);
    if (!file) return file.failure();
    the_observation->trace_ = *file;
  }
  return {};
}

Result<void> Observation::begin(sched::Scheduler& scheduler) const {
  return Recording::begin(scheduler, {options_.profile, trace_ != nullptr, options_.trace_buffer});
}

ObservationReport Observation::finish(const JobDescription& job, DescribeCode describe) {
  ObservationReport report;
  Recording* recording = Recording::instance();
  if (recording == nullptr || finished_.exchange(true)) return report;
  recording->stop();
  CallSites sites(describe);
  if (trace_ != nullptr) write_trace(*recording, job, sites, report);
  if (options_.profile) report.profile = pack_profile(collect_profile(*recording, job, sites));
  return report;
}

void Observation::write_trace(const Recording& recording, const JobDescription& job, CallSites& sites,
                              ObservationReport& report) {
  const UnlimitedFiles unlimited;
  const Result<TraceSummary> summary = observe::write_trace(trace_, recording, job, sites);
  const bool closed = std::fclose(trace_) == 0;
  if (!summary || !closed) {
    report.failure = fmt::format("--trace {}: the file could not be written: {}", options_.trace_file,
                                 summary ? strerror(errno) : summary.message());
    return;
  }
  report.notices.push_back(
      fmt::format("trace in {}: {} slices, {} messages; open it at https://ui.perfetto.dev",
                  options_.trace_file, summary->events, summary->messages));
  if (summary->dropped > 0) {
    report.notices.push_back(fmt::format(
        "warning: the trace lacks its {} oldest events, for which --trace-buffer {} had no room; with {} it "
        "would be "
        "complete",
        summary->dropped, megabytes(options_.trace_buffer - 1), megabytes(summary->bytes_per_worker_needed)));
  }
}

}  // namespace tmpi::observe
