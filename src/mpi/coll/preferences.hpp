// Preferences: the algorithms that the user asks for with --coll, NAME=ALGORITHM[,NAME=ALGORITHM...]. Set
// before any rank runs, read by all.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "mpi/coll/table.hpp"

namespace tmpi::mpi {

/// The choice that has no name of a collective: reductions give the same bits however many nodes there are.
inline constexpr std::string_view kReproducible = "reproducible";

/// Takes the user's choices; names in capitals or small letters. An unknown name gives a sentence with the
/// known ones. Before any rank runs.
Result<void> prefer_algorithms(std::string_view choices);

namespace detail {
extern const Algorithm* preferred[kCollectives];
extern bool reproducible;
}  // namespace detail
/// kReproducible is among the choices.
inline bool reproducible() noexcept {
  return detail::reproducible;
}
/// The row that is wanted for a collective, null if none.
inline const Algorithm* preferred_algorithm(Collective collective) noexcept {
  return detail::preferred[static_cast<int>(collective)];
}

/// Says that a wanted algorithm does not work for some call, once per collective, where the user wants to
/// know (-v).
[[gnu::cold]] void report_fallback(const Algorithm& preferred);

/// The table in words: what --coll help prints.
std::string describe_algorithms();

}  // namespace tmpi::mpi
