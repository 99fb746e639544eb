#include "launch/node/library_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "launch/node/rank_program.hpp"
#include "launch/system/program_path.hpp"
#include "privatize/set_builder.hpp"

namespace tmpi::launch {

namespace {

std::string_view kind_of(privatize::Ownership ownership) {
  switch (ownership) {
    case privatize::Ownership::kPrivate:
      return "private";
    case privatize::Ownership::kShared:
      return "shared";
    case privatize::Ownership::kRuntime:
      break;
  }
  return "tmpi";
}

std::string table_of(const std::vector<privatize::LibraryRow>& rows) {
  std::size_t width = 7;
  std::uint64_t all = 0;
  for (const privatize::LibraryRow& row : rows) {
    width = std::max(width, row.name.size());
    all += row.data;
  }
  std::string text =
      fmt::format("{:{}}  {:8}  {:>12}  why; path\n", "library", width, "whose", "bytes a rank");
  for (const privatize::LibraryRow& row : rows) {
    const std::string data =
        row.owner.ownership == privatize::Ownership::kPrivate ? std::to_string(row.data) : std::string("-");
    text += fmt::format("{:{}}  {:8}  {:>12}  {}{}{}{}{}\n", row.name, width, kind_of(row.owner.ownership),
                        data, row.owner.why, row.path.empty() ? "" : "; ", row.path,
                        row.instead_of.empty() ? "" : "; instead of ", row.instead_of);
  }
  return text + fmt::format("{:{}}  {:8}  {:>12}  writable; what a rank does not touch takes no memory\n",
                            "all", width, "", all);
}

}  // namespace

std::string value_for(const AppSpec& app, std::string_view name) {
  const char* const inherited = std::getenv(std::string(name).c_str());
  std::string value = inherited != nullptr ? inherited : "";
  const std::string beginning = std::string(name) + "=";
  for (const std::string& line : app.environment) {
    if (line.starts_with(beginning)) value = line.substr(beginning.size());
  }
  return value;
}

privatize::LibraryChoices library_choices(const JobSpec& job, const AppSpec& app) {
  return {job.shared_libraries, job.private_libraries, value_for(app, "LD_LIBRARY_PATH")};
}

Result<std::string> describe_libraries(std::span<char* const> words) {
  JobSpec job;
  AppSpec app;
  app.program = words.front();
  for (const std::string_view word : words.subspan(1)) {
    const std::size_t equals = word.find('=');
    const std::string_view option = word.substr(0, equals);
    auto& list = option == "-x"                ? app.environment
                 : option == "--share-library" ? job.shared_libraries
                                               : job.private_libraries;
    list.emplace_back(word.substr(equals + 1));
  }
  const Result<std::string> shim = find_companion("libtmpi-shim.so");
  if (!shim) return shim.failure();
  Result<RankProgram> program = find_rank_program({app.program, {app.program}},
                                                  {"", app.environment, value_for(app, "LD_LIBRARY_PATH")});
  if (!program) return program.failure();
  privatize::SetRequest request;
  request.path = std::move(program->path);
  if (!program->library.empty()) request.needed.push_back(std::move(program->library));
  request.shim = *shim;
  request.libraries = library_choices(job, app);
  if (const Result<void> possible = check_choices(request.libraries); !possible) return possible.failure();
  Result<std::vector<privatize::LibraryRow>> rows = list_libraries(request);
  if (!rows) return rows.failure();
  return table_of(*rows);
}

}  // namespace tmpi::launch
