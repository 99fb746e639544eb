// The page without figures, as tools/generate_page.py has put it together.
#pragma once

#include <cstddef>
#include <string_view>

extern "C" {
extern const char tmpi_page_template[];
extern const char tmpi_page_template_end[];
}

namespace tmpi::report {

/// Empty if there was no d3 when tmpi was built.
inline std::string_view page_template() noexcept {
  return {tmpi_page_template, static_cast<std::size_t>(tmpi_page_template_end - tmpi_page_template)};
}

}  // namespace tmpi::report
