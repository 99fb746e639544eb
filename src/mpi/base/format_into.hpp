// Text for those who must not allocate: memory has run out, a job is about to end.
#pragma once

#include <fmt/core.h>

#include <cstddef>
#include <string_view>

namespace tmpi::mpi {

/// As much of the text as `room` has space for beside a zero behind it, in `room`. Allocates nothing, as long as
/// what is formatted are numbers and strings. Any thread.
std::string_view vformat_into(char* room, std::size_t size, fmt::string_view format,
                              fmt::format_args arguments);

// A function for all, since fmt's own (format_to, format_to_n) compile all of fmt into each file that calls them.
template <std::size_t kSize, class... Arguments>
std::string_view format_into(char (&room)[kSize], fmt::format_string<Arguments...> format,
                             Arguments&&... arguments) {
  return vformat_into(room, kSize, format, fmt::make_format_args(arguments...));
}

}  // namespace tmpi::mpi
