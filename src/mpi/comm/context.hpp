// Context ids: 64 bits that say which communicator a message belongs to. Nobody agrees on them: a number of a
// node process, marked with a rank of it, is one that no other process can come up with. What belongs to a
// communicator without being made by the program (the parts of hierarchical collectives, the shadows of
// nonblocking ones) has contexts that are derived from the communicator's, the same for all members without a
// message.
//
//   63  collective: made by the library on behalf of a collective call; no wildcard of the program meets it
//   62  with 63: a message of a collective algorithm (messages/), not what makes communicators
//   61  named: the other bits are a hash of what processes that share no communicator call it
//       (shm/keyed_barrier.hpp)
//   60..58  shadow communicator, 57..56  part: derived contexts; 0: the communicator itself
//   55..34  maker: world rank + 1;   33..0  number
//   55  of a communicator with ranks of several jobs: the other bits are a hash of the job and those two
#pragma once

#include <string_view>

#include "mpi/comm/comm.hpp"

namespace tmpi::mpi {

/// Which part of a communicator a derived context is for (coll/hierarchy/hierarchy.hpp). Parts of one kind
/// have no members in common, hence no messages either.
enum class PartKind : unsigned char { kWhole, kNode, kInterNode };

namespace detail {
inline constexpr int kMakerShift = 34, kPartShift = 56, kShadowShift = 58;
inline constexpr ContextId kNumberMask = (ContextId{1} << kMakerShift) - 1;
inline constexpr ContextId kMakerMask = (ContextId{1} << kPartShift) - 1;
inline constexpr ContextId kNamed = ContextId{1} << 61;
inline constexpr ContextId kBetweenJobs = ContextId{1} << 55;  // no world rank has so many bits
}  // namespace detail

/// The context id with this number, made by the rank with this world rank.
constexpr ContextId context_id(int maker, std::uint64_t number) noexcept {
  return (ContextId{static_cast<unsigned>(maker)} + 1) << detail::kMakerShift |
         (number & detail::kNumberMask);
}

/// The context of the communicator that a derived or marked one belongs to. Of a named one: itself, without
/// marks.
constexpr ContextId base_of(ContextId context) noexcept {
  return context & ((context & detail::kNamed) != 0 ? (detail::kNamed << 1) - 1 : detail::kMakerMask);
}
constexpr bool is_named(ContextId context) noexcept {
  return (context & detail::kNamed) != 0;
}

/// The context ids with this number and the following ones where ranks of several jobs meet: `job` is the maker's. Two
/// such communicators have the same one with a probability of 2^-54.
ContextId context_between_jobs(std::uint64_t job, int maker, std::uint64_t number) noexcept;
/// Of a base_of().
constexpr bool is_between_jobs(ContextId context) noexcept {
  return !is_named(context) && (context & detail::kBetweenJobs) != 0;
}

/// World rank of the maker; -1 for kWorldContext and kSelfContext. Of a base_of().
constexpr int maker_of(ContextId context) noexcept {
  return static_cast<int>(context >> detail::kMakerShift) - 1;
}
constexpr std::uint64_t number_of(ContextId context) noexcept {
  return context & detail::kNumberMask;
}

/// The context of a part.
constexpr ContextId part_context(ContextId context, PartKind part) noexcept {
  return context | ContextId{static_cast<unsigned char>(part)} << detail::kPartShift;
}
/// The context of shadow communicator `slot` (0 to 6) of a communicator.
constexpr ContextId shadow_context(ContextId context, int slot) noexcept {
  return context | (ContextId{static_cast<unsigned>(slot)} + 1) << detail::kShadowShift;
}
/// Of a context that is not named: is it that of a part, of a shadow communicator? A shadow's part is both.
constexpr bool is_of_part(ContextId context) noexcept {
  return !is_named(context) && (context >> detail::kPartShift & 3) != 0;
}
constexpr bool is_of_shadow(ContextId context) noexcept {
  return !is_named(context) && (context >> detail::kShadowShift & 7) != 0;
}
/// The context of what is called `name`. Two names have the same one with a probability of 2^-61.
ContextId named_context(std::string_view name) noexcept;

}  // namespace tmpi::mpi
