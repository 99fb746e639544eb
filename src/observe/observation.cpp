#include "observe/observation.hpp"

#include <errno.h>
#include <fmt/core.h>
#include <string.h>

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
  if (!options.profile_file.empty()) {
    Result<std::FILE*> file = open("--profile", options.profile_file);
    if (!file) return file.failure();
    the_observation->profile_ = *file;
  }
  if (!options.trace_file.empty()) {
    Result<std::FILE*> file = open("--trace", options.trace_file);
    if (!file) return file.failure();
    the_observation->trace_ = *file;
  }
  return {};
}

Result<void> Observation::begin(sched::Scheduler& scheduler) const {
  return Recording::begin(scheduler, {trace_ != nullptr, options_.trace_buffer});
}

std::vector<std::string> Observation::finish(const JobDescription& job, DescribeCode describe) {
  std::vector<std::string> notices;
  Recording* recording = Recording::instance();
  if (recording == nullptr || finished_.exchange(true)) return notices;
  recording->stop();
  CallSites sites(describe);
  if (trace_ != nullptr) write_trace(*recording, job, sites, notices);
  if (options_.profile) write_profile(*recording, job, sites, notices);
  return notices;
}

void Observation::write_profile(const Recording& recording, const JobDescription& job, CallSites& sites,
                                std::vector<std::string>& notices) {
  const Profile profile = collect_profile(recording, job, sites);
  notices.push_back(profile_text(profile, sites));
  if (profile_ == nullptr) return;
  const std::string text = profile_json(profile, sites);
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), profile_) == text.size();
  if (std::fclose(profile_) != 0 || !written) {
    notices.push_back(fmt::format("--profile={}: the file could not be written: {}", options_.profile_file,
                                  strerror(errno)));
  }
}

void Observation::write_trace(const Recording& recording, const JobDescription& job, CallSites& sites,
                              std::vector<std::string>& notices) {
  const Result<TraceSummary> summary = observe::write_trace(trace_, recording, job, sites);
  std::fclose(trace_);
  if (!summary) {
    notices.push_back(
        fmt::format("--trace {}: the file could not be written: {}", options_.trace_file, summary.message()));
    return;
  }
  notices.push_back(fmt::format("trace in {}: {} slices, {} messages; open it at https://ui.perfetto.dev",
                                options_.trace_file, summary->events, summary->messages));
  if (summary->dropped > 0) {
    notices.push_back(fmt::format(
        "warning: the trace lacks its {} oldest events, for which --trace-buffer {} had no room; with {} it "
        "would be "
        "complete",
        summary->dropped, megabytes(options_.trace_buffer - 1), megabytes(summary->bytes_per_worker_needed)));
  }
}

}  // namespace tmpi::observe
