#include "launch/report/report_file.hpp"

#include <errno.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string.h>

#include <utility>

namespace tmpi::launch {

Result<ReportFile> ReportFile::open(std::string option, const std::string& path) {
  ReportFile report;
  report.option_ = std::move(option);
  report.file_.reset(std::fopen(path.c_str(), "we"));
  if (!report) return Failure{fmt::format("{}: cannot write the file: {}", report.option_, strerror(errno))};
  return report;
}

Result<void> ReportFile::write(std::string_view text) {
  errno = 0;
  const bool whole = std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size();
  const int error = errno;
  const Result<void> closed = close();
  if (whole && closed) return {};
  return Failure{fmt::format("{}: the file could not be written: {}", option_,
                             whole ? closed.message() : strerror(error))};
}

Result<void> ReportFile::close() {
  if (std::fclose(file_.release()) == 0) return {};
  return Failure{strerror(errno)};
}

std::string missing_parts(std::string_view what, const std::vector<std::string>& missing) {
  if (missing.empty()) return {};
  return fmt::format("warning: the {} lacks {}, which ended before saying all of it", what,
                     fmt::join(missing, ", "));
}

}  // namespace tmpi::launch
