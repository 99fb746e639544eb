#include "report/page.hpp"

#include <fmt/format.h>

#include "report/page_data.hpp"
#include "report/page_template.hpp"
#include "report/trace_window.hpp"

namespace tmpi::report {
namespace {

// Places in the template, in this order.
constexpr std::string_view kProfiles = "@PROFILES@";
constexpr std::string_view kTrace = "@TRACE@";

// Inside of a script element only these could end it, or begin what the browser takes for a comment; in JSON a `<` is
// always part of a string.
std::string for_script(const std::string& json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

void put(std::string& page, std::string_view place, const std::string& text) {
  page.replace(page.find(place), place.size(), text);
}

}  // namespace

Result<void> can_make_page() {
  if (page_template().find(kProfiles) != std::string_view::npos) return {};
  return Failure{
      "this tmpi was built without d3, the library that the page draws with. Install it (Debian: node-d3; or "
      "npm's "
      "d3 and cmake -DTMPI_D3=.../d3/dist/d3.min.js) and build tmpi again"};
}

Result<std::string> make_page(std::span<const Shown> profiles, const std::string& trace) {
  if (Result<void> able = can_make_page(); !able) return able.failure();
  const std::string window = trace.empty() ? std::string() : trace_window(trace);
  std::string page(page_template());
  // The first one last: what is put into its place moves those behind it.
  put(page, kTrace, window.empty() ? "null" : for_script(window));
  put(page, kProfiles, for_script(page_data(profiles)));
  return page;
}

}  // namespace tmpi::report
