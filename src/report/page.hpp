// Page: profiles as one HTML page that needs nothing else: no network, no other file. The page itself is src/report/page
// (HTML, CSS, JavaScript) with d3, put together when tmpi is built; here the figures are put into it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "observe/profile.hpp"

namespace tmpi::report {

struct Shown {
  std::string name;  ///< what it is called where there are several: of the file it was read from
  const observe::Profile* profile = nullptr;
};

/// Failure sentences: tmpi was built without d3. Known before there is a profile.
Result<void> can_make_page();
/// One profile, or two beside each other. `trace`: of the (first) run, a window of which is shown if the file is there;
/// empty: none.
Result<std::string> make_page(std::span<const Shown> profiles, const std::string& trace = {});

}  // namespace tmpi::report
