// Observation: --profile and --trace of a node process, from the options to what it reports. The room's
// interface for src/launch.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "observe/profile_collect.hpp"
#include "sched/scheduler.hpp"

namespace tmpi::observe {

struct ObservationOptions {
  bool profile = false;
  std::string trace_file;                            ///< empty: no trace
  std::size_t trace_buffer = std::size_t{16} << 20;  ///< bytes per worker

  bool any() const { return profile || !trace_file.empty(); }
};

/// What a node process has to say when its recording has stopped.
struct ObservationReport {
  std::string profile;  ///< packed (pack_profile), empty: none was wanted
  std::vector<std::string>
      notices;          ///< what the user should read of the trace: where it is, what was dropped
  std::string failure;  ///< why there is no trace, though one was wanted; empty: there is
};

class Observation {
 public:
  /// Opens the trace, so that a bad path is known before the job runs. Once; `any()` is true.
  static Result<void> prepare(const ObservationOptions& options);
  /// Null if nothing is observed.
  static Observation* instance() noexcept;

  /// The ranks have been spawned; none has run.
  Result<void> begin(sched::Scheduler& scheduler) const;

  /// Stops the recording and writes the trace. Only the first call does anything. Any thread that has a stack
  /// of usual size; takes seconds for a large trace. Does not suspend.
  ObservationReport finish(const JobDescription& job, DescribeCode describe);

 private:
  explicit Observation(const ObservationOptions& options) : options_(options) {}
  void write_trace(const Recording& recording, const JobDescription& job, CallSites& sites,
                   ObservationReport& report);

  ObservationOptions options_;
  std::FILE* trace_ = nullptr;
  std::atomic<bool> finished_{false};
};

}  // namespace tmpi::observe
