// Accumulator: a member's partial result of a reduction by messages. What comes from others is combined in
// rank order, whoever computes: so operators need not commute, members that compute the same combination get
// the same bits, and results repeat from run to run.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "mpi/coll/fold.hpp"
#include "mpi/coll/messages/messages.hpp"

namespace tmpi::mpi {

/// A vector of elements in memory of its own, which outlives suspensions (scratch_elements does not). A short one lies in
/// the object: allocating takes as long as combining it.
class ElementBuffer {
 public:
  ElementBuffer(const Datatype& type, MPI_Count count);
  ElementBuffer(const ElementBuffer&) = delete;
  ElementBuffer& operator=(const ElementBuffer&) = delete;
  std::byte* data() noexcept { return data_; }

 private:
  static constexpr std::size_t kShort = 512;
  alignas(std::max_align_t) std::byte short_[kShort];
  std::unique_ptr<std::byte[]> memory_;
  std::byte* data_;
};

class Accumulator {
 public:
  /// Starts with the member's input. The value stands in `place`, the caller's own memory, or in a buffer if
  /// that is null. `count`: elements of the whole vector.
  Accumulator(const Args& args, MPI_Count count, void* place);

  /// Elements [first, first + count) of the value, and room for as many from a partner.
  Chunk value(MPI_Count first, MPI_Count count) noexcept { return elements_of(value_, first, count, type_); }
  Chunk incoming(MPI_Count first, MPI_Count count) noexcept {
    return elements_of(incoming_.data(), first, count, type_);
  }
  Chunk value() noexcept { return value(0, count_); }
  Chunk incoming() noexcept { return incoming(0, count_); }

  /// What has come in is from lower (higher) ranks than all that the value has in it.
  void fold_lower(MPI_Count first, MPI_Count count);
  void fold_upper(MPI_Count first, MPI_Count count);
  void fold_lower() { fold_lower(0, count_); }
  void fold_upper() { fold_upper(0, count_); }

  /// Copies the value out.
  void store(void* result);

 private:
  const Op& op_;
  const Datatype& type_;
  const MPI_Count count_;
  std::optional<ElementBuffer> own_;
  std::byte* value_;
  ElementBuffer incoming_;
};

/// A power of two of members that holds all inputs, for algorithms by doubling and halving: the first
/// members, as many pairs as there are too many, have combined theirs, the upper one of a pair goes on.
/// Positions count the members that go on, in rank order.
class PowerOfTwo {
 public:
  PowerOfTwo(int rank, int members);
  int size() const noexcept { return size_; }          ///< members that go on
  int position() const noexcept { return position_; }  ///< mine, -1: I do not go on
  int rank_at(int position) const noexcept {
    return position < pairs_ ? 2 * position + 1 : position + pairs_;
  }
  /// Brings the inputs of the pairs together, and gives the result to those that did not go on.
  void enter(Messages& messages, Accumulator& accumulator) const;
  void leave(Messages& messages, Accumulator& accumulator) const;

 private:
  int rank_;
  int size_ = 1;
  int pairs_;
  int position_;
};

}  // namespace tmpi::mpi
