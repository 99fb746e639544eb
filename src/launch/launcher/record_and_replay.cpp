#include "launch/launcher/record_and_replay.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/file_size_limit.hpp"
#include "replay/record_file.hpp"

namespace tmpi::launch {
namespace {

constexpr std::string_view kReproducible = "reproducible";

/// Programs by their names alone: the replay may be somewhere else.
std::vector<std::string> command_of(const JobSpec& job) {
  std::vector<std::string> words;
  for (const AppSpec& app : job.apps) {
    if (!words.empty()) words.emplace_back(":");
    words.insert(words.end(),
                 {"-n", std::to_string(app.ranks), std::filesystem::path(app.program).filename()});
    for (std::size_t i = 1; i < app.arguments.size(); ++i) words.push_back(app.arguments[i]);
  }
  return words;
}

Failure failed(std::string_view option, const std::string& file, const std::string& why) {
  return Failure{fmt::format("{} {}: {}", option, file, why)};
}

bool same_file(const std::string& one, const std::string& other) {
  std::error_code missing;
  return one == other || std::filesystem::equivalent(one, other, missing);
}

}  // namespace

Result<void> prepare_record_and_replay(Settings& settings, int nodes) {
  JobSpec& job = settings.job;
  if (!job.replay_file.empty() && same_file(job.replay_file, job.record_file))
    return failed("--record", job.record_file, "--replay reads this file; give another one to be written");
  if (!job.replay_file.empty()) {
    const Result<replay::RecordHeader> header = replay::read_record_header(job.replay_file);
    if (!header) return failed("--replay", job.replay_file, header.message());
    if (header->ranks != job.total_ranks()) {
      return failed("--replay", job.replay_file,
                    fmt::format("{} ranks were recorded (tmpirun {}), but {} are to run", header->ranks,
                                fmt::join(header->command, " "), job.total_ranks()));
    }
    if (!header->coll.empty()) job.coll = header->coll;
  } else if (!job.record_file.empty() && job.coll.find(kReproducible) == std::string::npos) {
    job.coll += (job.coll.empty() ? "" : ",") + std::string(kReproducible);
  }
  if (job.record_file.empty()) return {};
  const UnlimitedFiles unlimited;
  if (!job.explored_file.empty()) {
    const Result<void> made =
        replay::create_record(job.explored_file, {job.total_ranks(), nodes, "", command_of(job)});
    if (!made) return failed("--explore", job.explored_file, made.message());
  }
  const Result<void> made =
      replay::create_record(job.record_file, {job.total_ranks(), nodes, job.coll, command_of(job)});
  return made ? made : failed("--record", job.record_file, made.message());
}

std::vector<std::string> replay_warnings(const JobSpec& job) {
  if (job.replay_file.empty()) return {};
  const Result<replay::RecordHeader> header = replay::read_record_header(job.replay_file);
  if (!header || header->command == command_of(job)) return {};
  return {fmt::format("--replay {}: this is not what was recorded, which is tmpirun {}", job.replay_file,
                      fmt::join(header->command, " "))};
}

}  // namespace tmpi::launch
