// ProfileReport: --profile and --report as tmpirun sees them. Each node process sends its part when it ends; put
// together, they are a table, a file and a page, all here where the user is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "launch/report/report_file.hpp"
#include "launch/spec/job_spec.hpp"
#include "observe/profile.hpp"

namespace tmpi::launch {

class ProfileReport {
 public:
  /// Opens the files, so that a bad path is known before the job runs.
  static Result<ProfileReport> prepare(const JobSpec& job);

  /// Bytes of a node process's part, in order.
  void add(int node, std::string_view piece);

  /// What the user should read: the table, which node processes' parts are missing in it, what failed. Writes
  /// the files, if a part has come.
  std::vector<std::string> finish(const ReportNodes& nodes);
  /// A file could not be written.
  bool failed() const { return failed_; }

 private:
  explicit ProfileReport(const JobSpec& job)
      : wanted_(job.profile), table_(job.profile_table), quiet_(job.quiet), trace_(job.trace_file) {}
  bool write(ReportFile& file, const std::string& text, std::vector<std::string>& notices);
  void write_page(const observe::Profile& whole, std::vector<std::string>& notices);

  bool wanted_, table_, quiet_;
  std::string trace_;  // of this run, empty: none
  ReportFile json_, page_;
  std::vector<std::string> parts_;  // by node process, packed
  bool failed_ = false;
};

}  // namespace tmpi::launch
