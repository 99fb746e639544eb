// ProfileReport: --profile and --report as tmpirun sees them. Each node process sends its part when it ends; put
// together, they are a table, a file and a page, all here where the user is.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
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
  /// the files. Nothing if no part has come: the job has not run. `nodes`: their names, by number.
  std::vector<std::string> finish(const std::vector<std::string>& nodes);
  /// A file could not be written.
  bool failed() const { return failed_; }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  struct File {
    std::string option;  // as the user knows it: "--report run.html"; empty: not wanted
    std::unique_ptr<std::FILE, Close> file;
  };

  explicit ProfileReport(const JobSpec& job) : table_(job.profile_table), trace_(job.trace_file) {}
  static Result<void> open(File& file, std::string option, const std::string& path);
  bool write(File& file, const std::string& text, std::vector<std::string>& notices);
  void write_page(const observe::Profile& whole, std::vector<std::string>& notices);

  bool table_;
  std::string trace_;  // of this run, empty: none
  File json_, page_;
  std::vector<std::string> parts_;  // by node process, packed
  bool failed_ = false;
};

}  // namespace tmpi::launch
