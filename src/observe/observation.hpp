// Observation: --profile and --trace of a node process, from the options to its parts of both. The room's
// interface for src/launch.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string_view>

#include "base/result.hpp"
#include "observe/profile_collect.hpp"
#include "observe/recording.hpp"
#include "sched/scheduler.hpp"

namespace tmpi::observe {

/// What takes a piece of the packed profile, or trace.
enum class ReportKind : std::uint8_t { kProfile, kTrace };
using TakeReport = std::function<void(ReportKind kind, std::string_view piece)>;

class Observation {
 public:
  /// Once; something is to be recorded.
  static void prepare(const RecordingOptions& options);
  /// Null if nothing is observed.
  static Observation* instance() noexcept;

  /// The ranks have been spawned; none has run.
  Result<void> begin(sched::Scheduler& scheduler) const;

  /// Stops the recording and hands out what there is of it, in pieces. Only the first call does anything. Any thread
  /// that has a stack of usual size; takes seconds for a large trace. Does not suspend.
  void finish(const JobDescription& job, DescribeCode describe, const TakeReport& take);

 private:
  explicit Observation(const RecordingOptions& options) : options_(options) {}

  RecordingOptions options_;
  std::atomic<bool> finished_{false};
};

}  // namespace tmpi::observe
