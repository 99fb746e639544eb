// What the page reads: the figures of profiles by columns, and what to do first. Its format is the page's own; whoever
// wants to read a profile takes the JSON of --profile.
#pragma once

#include <span>
#include <string>

#include "report/page.hpp"

namespace tmpi::report {

/// JSON. Totals are exact; what there is one of per rank has five digits, so that a page of 1,000 ranks is small.
std::string page_data(std::span<const Shown> profiles);

}  // namespace tmpi::report
