#include "mpi/coll/array_copies.hpp"

#include <cstring>

namespace tmpi::mpi {
namespace {

// Calls body(array, bytes) for each array of a side, and puts what it returns in the array's place.
template <class Body>
void for_arrays(Side& side, Body&& body) {
  const auto replace = [&](Numbers& numbers) {
    if (numbers) numbers.move_to(body(numbers.begin(), numbers.bytes(side.chunks)));
  };
  if (side.chunks == 0) return;
  replace(side.counts);
  replace(side.displs);
  if (side.types != nullptr)
    side.types = static_cast<const MPI_Datatype*>(
        body(side.types, static_cast<std::size_t>(side.chunks) * sizeof *side.types));
}

// Each array begins where one of any kind may.
constexpr std::size_t aligned(std::size_t bytes) noexcept {
  constexpr std::size_t kUnit = alignof(std::max_align_t);
  return (bytes + kUnit - 1) / kUnit * kUnit;
}

}  // namespace

ArrayCopies::ArrayCopies(Args& args) {
  std::size_t total = 0;
  const auto measure = [&](const void* array, std::size_t bytes) {
    total += aligned(bytes);
    return array;
  };
  for_arrays(args.send, measure);
  for_arrays(args.recv, measure);
  if (total == 0) return;
  memory_ = std::make_unique_for_overwrite<std::byte[]>(total);
  std::byte* free = memory_.get();
  const auto copy = [&](const void* array, std::size_t bytes) -> const void* {
    std::byte* place = free;
    free += aligned(bytes);
    return std::memcpy(place, array, bytes);
  };
  for_arrays(args.send, copy);
  for_arrays(args.recv, copy);
}

}  // namespace tmpi::mpi
