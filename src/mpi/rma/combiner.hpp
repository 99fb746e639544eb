// Combiner: how MPI_Accumulate and its kin change memory: element by element, each of them at once (MPI report,
// 12.7.1): accumulates of the same predefined type on the same element never mix, whichever workers they run on. Up
// to eight bytes one locked instruction or a loop around one does it, larger elements are kept by a lock that is
// chosen by the address. Who is alone with the memory does without. Any thread; nothing suspends.
#pragma once

#include "mpi/datatype/kernels.hpp"
#include "mpi/op/op.hpp"

namespace tmpi::mpi {

class Combiner {
 public:
  /// target = target op origin; check_op must have passed. `basic`: a predefined type. `alone`: nobody else touches
  /// the memory at the same time.
  Combiner(Operator which, const Datatype& basic, bool alone) noexcept;

  /// `count` elements that stand an extent of the type apart, in all three. `origin` may be null for MPI_NO_OP;
  /// `result`, null if it is not wanted, gets what was there before.
  void apply(Address target, const void* origin, void* result, MPI_Count count) const noexcept;

  /// Replaces one element if it has the bits of `compare`; `result` gets what was there.
  static void compare_and_swap(Address target, const void* origin, const void* compare, void* result,
                               const Datatype& basic, bool alone) noexcept;

  const Datatype& basic() const noexcept { return basic_; }

 private:
  void apply_alone(Address target, const void* origin, void* result, MPI_Count count) const noexcept;
  void apply_locked(Address target, const void* origin, void* result, MPI_Count count) const noexcept;
  template <class Word>
  void apply_words(Address target, const void* origin, void* result, MPI_Count count) const noexcept;
  template <class Word>
  void apply_row(Address target, const void* origin, void* result, MPI_Count count) const noexcept;
  void apply_wide(Address target, const std::byte* origin, std::byte* result, MPI_Count blocks,
                  MPI_Count elements) const noexcept;

  const Operator which_;
  const Datatype& basic_;
  const bool alone_;
};

/// The predefined type that all of a derived type's elements have; null if there are several, or none.
const Datatype* basic_type_of(const Datatype& type) noexcept;

}  // namespace tmpi::mpi
