#include "mpi/coll/preferences.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cctype>

#include "mpi/coll/algorithms.hpp"
#include "mpi/rank/callbacks.hpp"

namespace tmpi::mpi {

namespace detail {
const Algorithm* preferred[kCollectives];
bool reproducible;
}  // namespace detail

namespace {

std::atomic<bool> reported[kCollectives];  // relaxed: only one shall report, what it says is constant

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::toupper(x) == std::toupper(y); });
}

std::string all_collectives() {
  std::string names;
  for (int c = 0; c < kCollectives; ++c) {
    names += (c > 0 ? ", " : "") + std::string(name_of(static_cast<Collective>(c)));
  }
  return names;
}

std::string all_algorithms(Collective collective) {
  std::string names;
  for (const Algorithm& row : algorithms(collective))
    names += (names.empty() ? "" : ", ") + std::string(row.name);
  return names;
}

Result<void> prefer(std::string_view collective, std::string_view name) {
  for (int c = 0; c < kCollectives; ++c) {
    const auto which = static_cast<Collective>(c);
    if (!same_name(collective, name_of(which))) continue;
    for (const Algorithm& row : algorithms(which)) {
      if (!same_name(name, row.name)) continue;
      detail::preferred[c] = &row;
      return {};
    }
    return Failure{
        fmt::format("{} has no algorithm '{}'; it has {}", name_of(which), name, all_algorithms(which))};
  }
  return Failure{
      fmt::format("there is no collective '{}' to choose an algorithm for; there are {} (the v- and "
                  "w-variants go with their plain form)",
                  collective, all_collectives())};
}

// In one node process the order of combining is that of the ranks in any case (fold.hpp).
void prefer_reproducible() {
  detail::reproducible = true;
  for (const Algorithm* row :
       {&algorithm::kReduceRankOrder, &algorithm::kAllreduceRankOrder, &algorithm::kReduceScatterRankOrder,
        &algorithm::kScanRankOrder, &algorithm::kExscanRankOrder})
    detail::preferred[static_cast<int>(row->collective)] = row;
}

std::string size_text(MPI_Count bytes) {
  if (bytes >= 1 << 20) return fmt::format("{} MiB", bytes >> 20);
  return bytes >= 1 << 10 ? fmt::format("{} KiB", bytes >> 10) : fmt::format("{} bytes", bytes);
}

std::string in_words(const Conditions& conditions) {
  std::string text;
  for (const Condition* condition : conditions.list) {
    if (!text.empty()) text += ", ";
    text += fmt::format(fmt::runtime(condition->words), size_text(condition->bytes));
  }
  return text;
}

}  // namespace

std::string describe(const Algorithm& algorithm) {
  const std::string needs = in_words(algorithm.needs), preferred_for = in_words(algorithm.preferred_for);
  return (needs.empty() ? "any" : needs) + (preferred_for.empty() ? "" : "; " + preferred_for);
}

Result<void> prefer_algorithms(std::string_view choices) {
  std::ranges::fill(detail::preferred, nullptr);
  detail::reproducible = false;
  while (!choices.empty()) {
    const std::string_view choice = choices.substr(0, choices.find(','));
    choices.remove_prefix(std::min(choice.size() + 1, choices.size()));
    if (same_name(choice, kReproducible)) {
      prefer_reproducible();
      continue;
    }
    const std::size_t equals = choice.find('=');
    if (equals == std::string_view::npos) {
      return Failure{fmt::format(
          "'{}' is not of the form NAME=ALGORITHM, as in ALLREDUCE=ring, nor 'reproducible'", choice)};
    }
    if (Result<void> known = prefer(choice.substr(0, equals), choice.substr(equals + 1)); !known)
      return known;
  }
  return {};
}

void report_fallback(const Algorithm& preferred) {
  if (reported[static_cast<int>(preferred.collective)].exchange(true, std::memory_order_relaxed)) return;
  if (callbacks().inform == nullptr) return;
  callbacks().inform(fmt::format(
      "--coll {}={}: the algorithm does not work for some call, which was done by another one; it is for: {}",
      name_of(preferred.collective), preferred.name, describe(preferred)));
}

std::string describe_algorithms() {
  std::string text =
      "Algorithms for --coll NAME=ALGORITHM[,NAME=ALGORITHM...]. Without it the first one that fits is "
      "taken. --coll reproducible: reductions give the same bits for any number of workers and nodes "
      "(rank_order on several nodes; in one process the order is that of the ranks in any case).\n";
  for (int c = 0; c < kCollectives; ++c) {
    const auto which = static_cast<Collective>(c);
    text += fmt::format("\n{}\n", name_of(which));
    for (const Algorithm& row : algorithms(which))
      text += fmt::format("  {:<20}{}\n", row.name, describe(row));
  }
  return text;
}

}  // namespace tmpi::mpi
