// What --profile, --report and --trace have in common: a file that is opened before the job runs, so that a bad path is known
// then, and that is made of what each node process says when it ends.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace tmpi::launch {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using OwnedFile = std::unique_ptr<std::FILE, CloseFile>;

class ReportFile {
 public:
  ReportFile() = default;  ///< not wanted
  /// `option`: as the user knows it: "--report run.html". Failure: a sentence.
  static Result<ReportFile> open(std::string option, const std::string& path);

  explicit operator bool() const { return file_ != nullptr; }
  std::FILE* get() const { return file_.get(); }
  const std::string& option() const { return option_; }

  /// All that it is to hold. Failure: a sentence.
  Result<void> write(std::string_view text);
  /// What has been written to get() is there. Failure: the system's reason.
  Result<void> close();

 private:
  std::string option_;
  OwnedFile file_;
};

/// How a report is about the node processes of a job.
struct ReportNodes {
  std::vector<std::string> names;  ///< by number
  /// They have run, and none of them could be asked to say its part: that all are missing is worth a word.
  bool lost = false;
};

/// A warning that the report lacks these node processes' parts, empty if there are none. `what`: "profile".
std::string missing_parts(std::string_view what, const std::vector<std::string>& missing);

}  // namespace tmpi::launch
