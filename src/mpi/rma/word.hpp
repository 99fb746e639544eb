// Word: an accumulate, fetch-and-op or compare-and-swap of four or eight bytes inside the node, and a put or get of
// predefined elements that is not large, which is what most small operations are: nothing but checks and a few
// instructions, or a memcpy, so most of it is part of the MPI function. Nothing suspends, fails or calls back, and nothing
// is written but the memory of the operation: no Frame is needed (window_at_hand()). False: it is something else, which
// the functions of operation.hpp do, or refuse.
//
// Elements are atomic against all other accumulates because Combiner changes an aligned element of such a size in the
// same way, by instructions that are atomic themselves.
#pragma once

#include <atomic>
#include <bit>
#include <cstring>
#include <type_traits>

#include "mpi/datatype/datatype.hpp"
#include "mpi/p2p/shared_copy.hpp"
#include "mpi/rma/epoch.hpp"
#include "mpi/rma/limits.hpp"
#include "mpi/rma/window.hpp"

namespace tmpi::mpi {
namespace detail {

/// Where `bytes` bytes at a displacement lie; 0: not inside the window, not here, or not allowed yet.
[[gnu::always_inline]] inline Address word_at(const Window& window, int rank, MPI_Aint disp,
                                              MPI_Aint bytes) noexcept {
  if (static_cast<unsigned>(rank) >= window.size) return 0;
  const bool allowed =
      window.epoch == Epoch::kLockAll || (window.epoch != Epoch::kFence && may_access(window, rank));
  const Reach& reach = window.reach[rank];
  MPI_Aint displacement;
  if (!allowed || disp < 0 || __builtin_mul_overflow(disp, reach.disp_unit, &displacement) ||
      displacement > reach.size - bytes)
    return 0;
  return moved(reach.base, displacement);
}

/// How many bytes a count of elements has that are one run, and are not worth another worker's help in copying; 0:
/// none, or something else.
[[gnu::always_inline]] inline unsigned run_of(MPI_Count count, MPI_Datatype type) noexcept {
  if (static_cast<std::uint64_t>(count) >= std::uint64_t{kLeastShared}) return 0;
  const unsigned bytes = static_cast<unsigned>(count) * scalar_from(type).size;
  return bytes < kLeastShared ? bytes : 0;
}

[[gnu::always_inline]] inline void copy_run(void* to, const void* from, unsigned bytes) noexcept {
  if (bytes == 8) {
    std::memcpy(to, from, 8);
  } else if (bytes == 4) {
    std::memcpy(to, from, 4);
  } else {
    std::memcpy(to, from, bytes);
  }
}

/// The sum of two elements, given by their bits.
template <class Word>
[[gnu::always_inline]] inline Word sum_of(Word a, Word b, Scalar::Sum how) noexcept {
  using Real = std::conditional_t<sizeof(Word) == 8, double, float>;
  return how == Scalar::Sum::kInteger ? a + b
                                      : std::bit_cast<Word>(std::bit_cast<Real>(a) + std::bit_cast<Real>(b));
}

/// What was there before. Adds, or puts the operand there if `how` is kOther.
template <class Word>
[[gnu::always_inline]] inline Word change_word(Word& there, Word operand, Scalar::Sum how,
                                               bool alone) noexcept {
  const std::atomic_ref<Word> word(there);
  const bool replaces = how == Scalar::Sum::kOther;
  if (alone) {
    const Word before = word.load(std::memory_order_relaxed);
    word.store(replaces ? operand : sum_of(before, operand, how), std::memory_order_relaxed);
    return before;
  }
  // acq_rel as all of them: programs build locks of these.
  if (replaces) return word.exchange(operand, std::memory_order_acq_rel);
  if (how == Scalar::Sum::kInteger) return word.fetch_add(operand, std::memory_order_acq_rel);
  Word before = word.load(std::memory_order_relaxed);
  while (!word.compare_exchange_weak(before, sum_of(before, operand, how), std::memory_order_acq_rel,
                                     std::memory_order_relaxed)) {
  }
  return before;
}

/// `result` may be null. False: another operator, or not aligned.
template <class Word>
[[gnu::always_inline]] inline bool combine_word(Address target, MPI_Op op, Scalar::Sum sum, bool alone,
                                                const void* origin, void* result) noexcept {
  if (target % sizeof(Word) != 0) return false;
  Word& there = *reinterpret_cast<Word*>(target);
  Word operand, before;
  if (op == MPI_NO_OP) {
    before = std::atomic_ref<Word>(there).load(std::memory_order_acquire);
  } else {
    const bool adds = op == MPI_SUM && sum != Scalar::Sum::kOther;
    if (origin == nullptr || !(adds || op == MPI_REPLACE)) return false;
    std::memcpy(&operand, origin, sizeof(Word));
    before = change_word(there, operand, adds ? sum : Scalar::Sum::kOther, alone);
  }
  if (result != nullptr) std::memcpy(result, &before, sizeof(Word));
  return true;
}

template <class Word>
[[gnu::always_inline]] inline bool swap_word(Address target, bool alone, const void* origin,
                                             const void* compare, void* result) noexcept {
  if (target % sizeof(Word) != 0) return false;
  const std::atomic_ref<Word> word(*reinterpret_cast<Word*>(target));
  Word expected, desired;
  std::memcpy(&expected, compare, sizeof(Word));
  std::memcpy(&desired, origin, sizeof(Word));
  if (alone) {
    const Word before = word.load(std::memory_order_relaxed);
    if (before == expected) word.store(desired, std::memory_order_relaxed);
    expected = before;
  } else {
    word.compare_exchange_strong(expected, desired, std::memory_order_acq_rel);
  }
  std::memcpy(result, &expected, sizeof(Word));
  return true;
}

}  // namespace detail

/// Data of the calling rank or of a target, as the program gives it.
struct GivenData {
  MPI_Count count;
  MPI_Datatype type;
};

[[gnu::always_inline]] inline bool put_run(const Window& window, const void* origin, const GivenData& from,
                                           int rank, MPI_Aint disp, const GivenData& to) noexcept {
  const unsigned bytes = detail::run_of(from.count, from.type);
  if (bytes == 0 || origin == nullptr || detail::run_of(to.count, to.type) != bytes) return false;
  const Address there = detail::word_at(window, rank, disp, bytes);
  if (there != 0) detail::copy_run(reinterpret_cast<void*>(there), origin, bytes);
  return there != 0;
}

[[gnu::always_inline]] inline bool get_run(const Window& window, void* origin, const GivenData& to, int rank,
                                           MPI_Aint disp, const GivenData& from) noexcept {
  const unsigned bytes = detail::run_of(to.count, to.type);
  if (bytes == 0 || origin == nullptr || detail::run_of(from.count, from.type) != bytes) return false;
  const Address there = detail::word_at(window, rank, disp, bytes);
  if (there != 0) detail::copy_run(origin, reinterpret_cast<const void*>(there), bytes);
  return there != 0;
}

/// combine_word() may do it.
[[gnu::always_inline]] inline bool of_words(MPI_Op op) noexcept {
  return op == MPI_SUM || op == MPI_REPLACE || op == MPI_NO_OP;
}

/// One element, with or without a result: MPI_SUM, MPI_REPLACE and MPI_NO_OP.
[[gnu::always_inline]] inline bool combine_word(const Window& window, MPI_Op op, const void* origin,
                                                void* result, MPI_Datatype type, int rank,
                                                MPI_Aint disp) noexcept {
  const Scalar scalar = scalar_from(type);
  if (scalar.size != 8 && scalar.size != 4) return false;
  const Address there = detail::word_at(window, rank, disp, scalar.size);
  if (there == 0) return false;
  const bool is_alone = alone(window, rank);
  return scalar.size == 8
             ? detail::combine_word<std::uint64_t>(there, op, scalar.sum, is_alone, origin, result)
             : detail::combine_word<std::uint32_t>(there, op, scalar.sum, is_alone, origin, result);
}

/// One element, by another predefined operator: a loop of the reductions, with a compare-and-swap around it or alone.
/// Not part of the MPI function, which would grow by what few programs use. `result` may be null.
bool combine_word_by_loop(const Window& window, MPI_Op op, const void* origin, void* result,
                          MPI_Datatype type, int rank, MPI_Aint disp) noexcept;

/// One element by any predefined operator, by whichever of the two ways is its.
[[gnu::always_inline]] inline bool combine_element(const Window& window, MPI_Op op, const void* origin,
                                                   void* result, MPI_Datatype type, int rank,
                                                   MPI_Aint disp) noexcept {
  return of_words(op) ? combine_word(window, op, origin, result, type, rank, disp)
                      : combine_word_by_loop(window, op, origin, result, type, rank, disp);
}

[[gnu::always_inline]] inline bool compare_and_swap_word(const Window& window, const void* origin,
                                                         const void* compare, void* result, MPI_Datatype type,
                                                         int rank, MPI_Aint disp) noexcept {
  const Scalar scalar = scalar_from(type);
  if (!scalar.compares || (scalar.size != 8 && scalar.size != 4)) return false;
  if (origin == nullptr || compare == nullptr || result == nullptr) return false;
  const Address there = detail::word_at(window, rank, disp, scalar.size);
  if (there == 0) return false;
  const bool is_alone = alone(window, rank);
  return scalar.size == 8 ? detail::swap_word<std::uint64_t>(there, is_alone, origin, compare, result)
                          : detail::swap_word<std::uint32_t>(there, is_alone, origin, compare, result);
}

/// Counts a call that is done without a Frame, if no turn of others is due (let_others_run() in synchronize.hpp): that
/// needs one.
[[gnu::always_inline]] inline bool within_turn(Window& window) noexcept {
  if ((window.polls + 1) % rma::kPollsPerTurn == 0) [[unlikely]]
    return false;
  ++window.polls;
  return true;
}

/// A flush that has nothing to wait for and nobody to let run.
[[gnu::always_inline]] inline bool flush_word(Window& window, int rank) noexcept {
  if (static_cast<unsigned>(rank) >= window.size || window.reach[rank].size < 0) return false;
  const bool locked =
      window.epoch == Epoch::kLockAll ||
      (window.epoch == Epoch::kLock && window.targets[static_cast<std::size_t>(rank)] != kNothing);
  return locked && within_turn(window);
}

}  // namespace tmpi::mpi
