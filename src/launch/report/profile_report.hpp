// ProfileReport: --profile as tmpirun sees it. Each node process sends its part when it ends; put together,
// they are one table and one file, both here where the user is.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "launch/spec/job_spec.hpp"

namespace tmpi::launch {

class ProfileReport {
 public:
  /// Opens the file, so that a bad path is known before the job runs.
  static Result<ProfileReport> prepare(const JobSpec& job);

  /// Bytes of a node process's part, in order.
  void add(int node, std::string_view piece);

  /// What the user should read: the table, which node processes' parts are missing in it, what failed. Writes
  /// the file. Nothing if no part has come: the job has not run. `nodes`: their names, by number.
  std::vector<std::string> finish(const std::vector<std::string>& nodes);
  /// The file could not be written.
  bool failed() const { return failed_; }

 private:
  explicit ProfileReport(const JobSpec& job) : path_(job.profile_file) {}
  void write(const std::string& text, std::vector<std::string>& notices);

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;  // empty: only the table
  std::unique_ptr<std::FILE, Close> file_;
  std::vector<std::string> parts_;  // by node process, packed
  bool failed_ = false;
};

}  // namespace tmpi::launch
