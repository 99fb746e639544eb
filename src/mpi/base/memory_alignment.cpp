#include "mpi/base/memory_alignment.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <string>

namespace tmpi::mpi {

std::size_t memory_alignment(const Info& hints, std::size_t otherwise) noexcept {
  constexpr std::size_t kMost = std::size_t{1} << 30;
  const std::string* const value = hints.find("mpi_minimum_memory_alignment");
  if (value == nullptr) return otherwise;
  std::size_t bytes = 0;
  const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), bytes);
  const bool sensible = error == std::errc() && end == value->data() + value->size() &&
                        std::has_single_bit(bytes) && bytes <= kMost;
  return sensible ? std::max(bytes, otherwise) : otherwise;
}

}  // namespace tmpi::mpi
