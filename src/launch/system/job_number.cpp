#include "launch/system/job_number.hpp"

#include <unistd.h>

#include <array>
#include <bit>
#include <chrono>
#include <cstddef>

#include "net/secret.hpp"

namespace tmpi::launch {

std::uint64_t number_of_job() noexcept {
  std::array<std::byte, sizeof(std::uint64_t)> bytes{};
  if (net::draw_random(bytes)) return std::bit_cast<std::uint64_t>(bytes);
  return static_cast<std::uint64_t>(getpid()) << 32 ^
         static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
}

}  // namespace tmpi::launch
