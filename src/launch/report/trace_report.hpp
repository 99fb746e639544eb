// TraceReport: --trace as tmpirun sees it. Each node process sends its part when it ends; put together on one clock, they
// are one file, here where the user is. Until then the parts lie in files without a name beside it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "launch/report/report_file.hpp"
#include "launch/spec/job_spec.hpp"
#include "observe/job_trace.hpp"

namespace tmpi::launch {

class TraceReport {
 public:
  /// Opens the file, so that a bad path is known before the job runs; FILE.otf2 is an archive of OTF2.
  static Result<TraceReport> prepare(const JobSpec& job);

  /// Bytes of a node process's part, in order.
  void add(int node, std::string_view piece);

  /// Writes the file, if a part has come. What the user should read: where it is, what was dropped, which parts are missing,
  /// what failed.
  std::vector<std::string> finish(const ReportNodes& nodes);
  /// The file could not be written.
  bool failed() const { return failed_; }

 private:
  explicit TraceReport(const JobSpec& job)
      : path_(job.trace_file), buffer_(job.trace_buffer), quiet_(job.quiet) {}
  void fail(std::string why);
  void write(const ReportNodes& nodes, std::vector<std::string>& notices);
  Result<void> write_json(const observe::JobTrace& trace);

  std::string path_;  // empty: no trace
  std::size_t buffer_;
  bool quiet_;
  ReportFile file_;
  std::vector<OwnedFile> parts_;  // by node process
  bool has_come_ = false;         // something of a part
  bool failed_ = false;
  std::string why_;  // of the first failure
};

}  // namespace tmpi::launch
