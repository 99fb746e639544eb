// The selection table: which algorithm runs which collective, in one place (table.cpp). For each collective
// the first algorithm that works for the call and suits it is taken (algorithm.hpp); --coll (preferences.hpp)
// puts another one of the same collective first, which then only has to work.
#pragma once

#include <atomic>
#include <functional>
#include <span>

#include "mpi/coll/algorithm.hpp"

namespace tmpi::mpi {

/// All algorithms of a collective, in order of preference.
std::span<const std::reference_wrapper<const Algorithm>> algorithms(Collective collective) noexcept;

/// "ALLREDUCE" and the like, as in MPI_Allreduce.
const char* name_of(Collective collective) noexcept;

/// The algorithm for these arguments; null if none applies. `comm` is no intercommunicator. `part`: without
/// the user's choices (run_part).
const Algorithm* select(Comm& comm, const Args& args, bool part = false);

/// Told when the table has been asked: an algorithm has been chosen for a call of `rank`, which is about to begin. What
/// is the same for the next call is remembered, and nobody is asked. Null: nobody is told. Any thread.
using ChoiceObserver = void (*)(Rank& rank, const Algorithm& algorithm, const Query& query) noexcept;
namespace detail {
extern std::atomic<ChoiceObserver> g_choice_observer;
}
inline void observe_choices(ChoiceObserver observer) noexcept {
  detail::g_choice_observer.store(observer, std::memory_order_release);
}

}  // namespace tmpi::mpi
