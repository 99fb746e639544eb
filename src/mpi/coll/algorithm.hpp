// Algorithm: what stands beside each algorithm of a collective: its name, what it needs of a call, when it is
// to be preferred, and the functions that run it. The selection table (table.cpp) orders these; which
// algorithm runs, what --coll help prints, and what a report says about one that does not work all come from
// here.
#pragma once

#include <array>
#include <span>
#include <string>

#include "mpi/coll/args.hpp"
#include "mpi/comm/comm.hpp"

namespace tmpi::mpi {

class WaitingContinuation;  // arrivals.hpp

/// What the choice of an algorithm may depend on. Everything here is the same for all members of a correct
/// program, so all of them choose alike; what members cannot know of each other (the counts of the
/// v-variants) is not here.
struct Query {
  int ranks = 1;
  int nodes = 1;             ///< node processes that members live in
  int most_on_node = 1;      ///< members on one of them; with nodes == 1 not looked up
  int fewest_on_node = 1;    ///< likewise
  bool pair_apart = false;   ///< two members, on two workers of one node, in a blocking call
  bool contiguous = true;    ///< each node's members are neighbours in rank order; likewise
  MPI_Count bytes = 0;       ///< of one member's vector (reductions), chunk, or message; 0 if ragged, but for
                             ///< reduce_scatter, where what is more than a cell_limit counts as one more
  MPI_Count cell_limit = 0;  ///< bytes a member can leave behind (cells.hpp)
  bool commutative = true;
  bool dense = true;      ///< elements may be copied as bytes
  bool in_place = false;  ///< collectives where MPI_IN_PLACE is passed by all members or none
  bool ragged = false;    ///< the v- and w-variants
};

/// Something that an algorithm may ask of a call, and the words for it ("{}" stands for `bytes`:
/// conditions.hpp).
struct Condition {
  bool (*holds)(const Query& query, MPI_Count bytes) noexcept;
  const char* words;
  MPI_Count bytes = 0;
};

/// Conditions that must hold together: conditions<kOneNode, kUpTo<2048>>. What is evaluated and what is said
/// are one list; evaluating it is one call.
struct Conditions {
  bool (*all)(const Query& query) noexcept;  ///< null: none are asked
  std::span<const Condition* const> list;

  bool hold(const Query& query) const noexcept { return all == nullptr || all(query); }
};

namespace detail {

template <const Condition&... List>
inline constexpr std::array<const Condition*, sizeof...(List)> kConditionList = {&List...};

template <const Condition&... List>
bool all_hold([[maybe_unused]] const Query& query) noexcept {
  return (List.holds(query, List.bytes) && ...);
}

}  // namespace detail

template <const Condition&... List>
inline constexpr Conditions conditions = {sizeof...(List) > 0 ? detail::all_hold<List...> : nullptr,
                                          detail::kConditionList<List...>};

/// One member's call of a collective in shared memory, from its first step to its last: on its stack, or in
/// the nonblocking operation.
struct Call {
  Comm& comm;
  Args& args;
  std::uint64_t sequence = 0;  ///< its number at the shared-memory barrier, or in the slot ring
};

/// What has become of a call that must not wait. kNot: nothing, it would have to. kDone: it is over;
/// args.error says how. kPending: it has left a continuation behind, after which its last steps are left to
/// do.
enum class Started : unsigned char { kNot, kDone, kPending };

/// The functions that run an algorithm. All have one signature.
struct Forms {
  /// May SUSPEND.
  Err (*run)(Comm& comm, Args& args);
  /// Runs the call as far as it gets without waiting. Null: always kNot. Neither of these two suspends, or
  /// words an error.
  Started (*start)(Call& call, WaitingContinuation& continuation) = nullptr;
  /// The last steps of a call that was kPending, when its continuation proceeds; args.error says how it
  /// ended.
  void (*finish)(Call& call) = nullptr;
};

struct Algorithm {
  Collective collective;
  const char* name;                         ///< for --coll and reports: "cells", "segments", ...
  Conditions needs = conditions<>;          ///< else it does not work
  Conditions preferred_for = conditions<>;  ///< else it runs only if the user asks for it
  Forms forms;

  bool works(const Query& query) const noexcept { return needs.hold(query); }
  bool suits(const Query& query) const noexcept { return preferred_for.hold(query); }
};

/// Both lists of conditions in words, for people.
std::string describe(const Algorithm& algorithm);

}  // namespace tmpi::mpi
