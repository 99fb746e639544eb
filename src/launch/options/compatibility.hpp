// Compatibility: options of Open MPI's and MPICH's launchers that scripts carry. Each is translated into tmpirun's own,
// or passed over where it means nothing here; the first sort is silent, the second is said once.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "launch/options/options.hpp"

namespace tmpi::launch {

/// Rows as in option_table(), none of them shown in the help text.
std::span<const Option> compatibility_table();

/// --map-by and --bind-to with the values of other launchers as well ("ppr:2:node", "numa:PE=4", "hwthread").
/// They return what is wrong with the value, empty if nothing is.
std::string set_map_by(OptionTarget target, std::string_view value);
std::string set_binding(OptionTarget target, std::string_view value);

/// --cpus-per-rank, which --map-by may say as well.
std::string set_cpus_per_rank(OptionTarget target, std::string_view value);

/// What serves the purpose of an option that another launcher has and tmpirun has not, empty if that is unknown:
/// "give --output-filename DIR".
std::string_view counterpart(std::string_view option);

/// One sentence about all options that were passed over, empty if none was.
std::string passed_over_sentence(const Settings& settings);

}  // namespace tmpi::launch
