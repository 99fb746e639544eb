// What a context id that new_context() has made says: who made it, and which one it is of those of its node
// process.
#pragma once

#include "mpi/comm/comm.hpp"

namespace tmpi::mpi {

namespace detail {
inline constexpr int kMakerShift = 40;
}

/// The context id with this number, made by the rank with this world rank.
constexpr ContextId context_id(int maker, std::uint64_t number) noexcept {
  return (ContextId{static_cast<unsigned>(maker)} + 1) << detail::kMakerShift | number;
}

/// World rank of the maker; -1 for kWorldContext and kSelfContext. Without kCollective.
constexpr int maker_of(ContextId context) noexcept {
  return static_cast<int>(context >> detail::kMakerShift) - 1;
}
constexpr std::uint64_t number_of(ContextId context) noexcept {
  return context & ((ContextId{1} << detail::kMakerShift) - 1);
}

}  // namespace tmpi::mpi
