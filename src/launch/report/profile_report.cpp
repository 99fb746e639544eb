#include "launch/report/profile_report.hpp"

#include <errno.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string.h>

#include "report/page.hpp"

namespace tmpi::launch {

Result<void> ProfileReport::open(File& file, std::string option, const std::string& path) {
  file.option = std::move(option);
  file.file.reset(std::fopen(path.c_str(), "we"));
  if (!file.file) return Failure{fmt::format("{}: cannot write the file: {}", file.option, strerror(errno))};
  return {};
}

Result<ProfileReport> ProfileReport::prepare(const JobSpec& job) {
  ProfileReport report(job);
  if (const std::string& path = job.profile_file; !path.empty()) {
    if (Result<void> ok = open(report.json_, "--profile=" + path, path); !ok) return ok.failure();
  }
  if (const std::string& path = job.report_file; !path.empty()) {
    if (Result<void> able = tmpi::report::can_make_page(); !able)
      return Failure{fmt::format("--report {}: {}", path, able.message())};
    if (Result<void> ok = open(report.page_, "--report " + path, path); !ok) return ok.failure();
  }
  return report;
}

void ProfileReport::add(int node, std::string_view piece) {
  const auto number = static_cast<std::size_t>(node);
  if (number >= parts_.size()) parts_.resize(number + 1);
  parts_[number] += piece;
}

std::vector<std::string> ProfileReport::finish(const std::vector<std::string>& nodes) {
  std::vector<std::string> notices;
  std::vector<observe::Profile> profiles;
  std::vector<std::string> missing;
  parts_.resize(nodes.size());
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    Result<observe::Profile> profile = observe::unpack_profile(parts_[node]);
    if (profile) {
      profiles.push_back(*std::move(profile));
    } else {
      missing.push_back(nodes[node]);
    }
  }
  if (profiles.empty()) return notices;
  const observe::Profile whole = observe::merge_profiles(std::move(profiles));
  if (table_) notices.push_back(observe::profile_text(whole));
  if (!missing.empty()) {
    notices.push_back(fmt::format("warning: the profile lacks {}, which ended before saying anything of it",
                                  fmt::join(missing, ", ")));
  }
  if (json_.file) write(json_, observe::profile_json(whole), notices);
  if (page_.file) write_page(whole, notices);
  return notices;
}

void ProfileReport::write_page(const observe::Profile& whole, std::vector<std::string>& notices) {
  const tmpi::report::Shown shown[] = {{"", &whole}};
  const Result<std::string> page = tmpi::report::make_page(shown, trace_);
  if (!page) {
    failed_ = true;
    notices.push_back(fmt::format("{}: {}", page_.option, page.message()));
  } else if (write(page_, *page, notices)) {
    notices.push_back(fmt::format("{}: written; open it with a browser", page_.option));
  }
}

bool ProfileReport::write(File& file, const std::string& text, std::vector<std::string>& notices) {
  errno = 0;
  bool written = std::fwrite(text.data(), 1, text.size(), file.file.get()) == text.size();
  written = std::fclose(file.file.release()) == 0 && written;
  failed_ |= !written;
  if (!written)
    notices.push_back(fmt::format("{}: the file could not be written: {}", file.option, strerror(errno)));
  return written;
}

}  // namespace tmpi::launch
