#include "launch/report/profile_report.hpp"

#include <fmt/format.h>

#include <utility>

#include "report/page.hpp"

namespace tmpi::launch {

Result<ProfileReport> ProfileReport::prepare(const JobSpec& job) {
  ProfileReport report(job);
  if (const std::string& path = job.profile_file; !path.empty()) {
    Result<ReportFile> file = ReportFile::open("--profile=" + path, path);
    if (!file) return file.failure();
    report.json_ = *std::move(file);
  }
  if (const std::string& path = job.report_file; !path.empty()) {
    if (Result<void> able = tmpi::report::can_make_page(); !able)
      return Failure{fmt::format("--report {}: {}", path, able.message())};
    Result<ReportFile> file = ReportFile::open("--report " + path, path);
    if (!file) return file.failure();
    report.page_ = *std::move(file);
  }
  return report;
}

void ProfileReport::add(int node, std::string_view piece) {
  const auto number = static_cast<std::size_t>(node);
  if (number >= parts_.size()) parts_.resize(number + 1);
  parts_[number] += piece;
}

std::vector<std::string> ProfileReport::finish(const ReportNodes& nodes) {
  std::vector<std::string> notices;
  std::vector<observe::Profile> profiles;
  std::vector<std::string> missing;
  parts_.resize(nodes.names.size());
  for (std::size_t node = 0; node < nodes.names.size(); ++node) {
    Result<observe::Profile> profile = observe::unpack_profile(parts_[node]);
    if (profile) {
      profiles.push_back(*std::move(profile));
    } else {
      missing.push_back(nodes.names[node]);
    }
  }
  const bool worth_it = !quiet_ && wanted_ && (!profiles.empty() || nodes.lost);
  const std::string warning = worth_it ? missing_parts("profile", missing) : std::string();
  if (profiles.empty() && !warning.empty()) notices.push_back(warning);
  if (profiles.empty()) return notices;
  const observe::Profile whole = observe::merge_profiles(std::move(profiles));
  if (table_) notices.push_back(observe::profile_text(whole));
  if (!warning.empty()) notices.push_back(warning);
  if (json_) write(json_, observe::profile_json(whole), notices);
  if (page_) write_page(whole, notices);
  return notices;
}

void ProfileReport::write_page(const observe::Profile& whole, std::vector<std::string>& notices) {
  const tmpi::report::Shown shown[] = {{"", &whole}};
  const Result<std::string> page = tmpi::report::make_page(shown, trace_);
  if (!page) {
    failed_ = true;
    notices.push_back(fmt::format("{}: {}", page_.option(), page.message()));
  } else if (write(page_, *page, notices)) {
    notices.push_back(fmt::format("{}: written; open it with a browser", page_.option()));
  }
}

bool ProfileReport::write(ReportFile& file, const std::string& text, std::vector<std::string>& notices) {
  const Result<void> written = file.write(text);
  if (written) return true;
  failed_ = true;
  notices.push_back(written.message());
  return false;
}

}  // namespace tmpi::launch
