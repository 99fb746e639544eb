#include "mpi/base/format_into.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tmpi::mpi {

std::string_view vformat_into(char* room, std::size_t size, fmt::string_view format,
                              fmt::format_args arguments) {
  const auto end = fmt::vformat_to_n(room, size - 1, format, arguments);
  const std::size_t length = std::min(end.size, size - 1);
  room[length] = '\0';
  return {room, length};
}

}  // namespace tmpi::mpi
