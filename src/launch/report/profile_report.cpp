#include "launch/report/profile_report.hpp"

#include <errno.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string.h>

#include "observe/profile.hpp"

namespace tmpi::launch {

Result<ProfileReport> ProfileReport::prepare(const JobSpec& job) {
  ProfileReport report(job);
  if (report.path_.empty()) return report;
  report.file_.reset(std::fopen(report.path_.c_str(), "we"));
  if (!report.file_) {
    return Failure{fmt::format("--profile={}: cannot write the file: {}", report.path_, strerror(errno))};
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
  notices.push_back(observe::profile_text(whole));
  if (!missing.empty()) {
    notices.push_back(fmt::format("warning: the profile lacks {}, which ended before saying anything of it",
                                  fmt::join(missing, ", ")));
  }
  if (file_) write(observe::profile_json(whole), notices);
  return notices;
}

void ProfileReport::write(const std::string& text, std::vector<std::string>& notices) {
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), file_.get()) == text.size();
  failed_ = std::fclose(file_.release()) != 0 || !written;
  if (failed_)
    notices.push_back(fmt::format("--profile={}: the file could not be written: {}", path_, strerror(errno)));
}

}  // namespace tmpi::launch
