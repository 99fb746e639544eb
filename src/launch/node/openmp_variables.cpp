#include "launch/node/openmp_variables.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

namespace tmpi::launch {
namespace {

std::optional<std::string_view> chosen(const AppSpec& app, std::string_view name) {
  // Of what is said twice the last counts, as for the ranks.
  const auto said =
      std::ranges::find_if(app.environment.rbegin(), app.environment.rend(), [&](std::string_view line) {
        return line.starts_with(name) && line.substr(name.size()).starts_with('=');
      });
  if (said != app.environment.rend()) return std::string_view(*said).substr(name.size() + 1);
  if (const char* const inherited = getenv(std::string(name).c_str())) return inherited;
  return {};
}

}  // namespace

int chosen_threads(const AppSpec& app) {
  const std::string_view text = chosen(app, "OMP_NUM_THREADS").value_or("");
  int threads = 0;
  std::from_chars(text.data(), text.data() + text.size(), threads);
  return std::max(threads, 0);
}

std::vector<std::string> openmp_variables(const AppSpec& app, int vratio, int cores) {
  std::vector<std::string> lines;
  int threads = chosen_threads(app);
  // A rank that starts a thread for each core of the machine would do so V times, and beside the other ranks.
  if (!chosen(app, "OMP_NUM_THREADS") && (vratio > 1 || cores > 0)) {
    threads = std::max(cores, 1);
    // Not by fmt: each rank does it on its own stack, whose pages it would touch.
    lines.push_back("OMP_NUM_THREADS=" + std::to_string(threads));
  }
  // While a rank waits in MPI its threads would spin on the cores that the next one wants.
  const bool waits_as_chosen =
      chosen(app, "OMP_WAIT_POLICY") || chosen(app, "GOMP_SPINCOUNT") || chosen(app, "KMP_BLOCKTIME");
  if (vratio > 1 && threads > 1 && !waits_as_chosen) lines.emplace_back("OMP_WAIT_POLICY=passive");
  return lines;
}

}  // namespace tmpi::launch
