#include "report/page.hpp"

#include <fmt/format.h>

#include "report/page_data.hpp"
#include "report/page_template.hpp"

namespace tmpi::report {
namespace {

constexpr std::string_view kPlace = "@PROFILES@";

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

}  // namespace

Result<void> can_make_page() {
  if (page_template().find(kPlace) != std::string_view::npos) return {};
  return Failure{
      "this tmpi was built without d3, the library that the page draws with. Install it (Debian: node-d3; or "
      "npm's "
      "d3 and cmake -DTMPI_D3=.../d3/dist/d3.min.js) and build tmpi again"};
}

Result<std::string> make_page(std::span<const Shown> profiles) {
  if (Result<void> able = can_make_page(); !able) return able.failure();
  const std::string_view whole = page_template();
  const std::size_t place = whole.find(kPlace);
  std::string page(whole.substr(0, place));
  page += for_script(page_data(profiles));
  page += whole.substr(place + kPlace.size());
  return page;
}

}  // namespace tmpi::report
