// Cursor: walks the runs of a layout in type-map order, a batch of equal blocks at a time, so that two
// layouts can be copied into each other without a pack buffer.
#pragma once

#include <memory>

#include "mpi/datatype/kernels.hpp"
#include "mpi/datatype/node.hpp"

namespace tmpi::mpi {

class Cursor {
 public:
  /// At the first run of `node`, which must not be empty and outlives the cursor.
  Cursor(const Node& node, Address base) noexcept;
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  Address address() const noexcept { return address_; }
  MPI_Count length() const noexcept {
    return length_;
  }  ///< bytes left in the current run; never 0 before the end
  MPI_Count stride() const noexcept { return stride_; }
  /// Runs of length() bytes that begin here, stride() apart, as far as one batch goes; 1 inside a run.
  MPI_Count blocks() const noexcept { return length_ == block_ ? left_ + 1 : 1; }

  /// Advances by whole blocks, at most blocks().
  void skip_blocks(MPI_Count count) noexcept {
    if (count <= left_) {
      left_ -= count;
      run_ = moved(run_, count * stride_);
      address_ = run_;
      length_ = block_;
    } else {
      next_batch();
    }
  }
  /// Advances inside the current run, at most length().
  void skip_bytes(MPI_Count count) noexcept {
    if (count == length_) return skip_blocks(1);
    address_ = moved(address_, count);
    length_ -= count;
  }

 private:
  struct Frame {
    const Node* node;
    Address base;     // node->offset included
    MPI_Count index;  // of the next child
  };
  static constexpr int kInlineFrames = 8;

  void next_batch() noexcept;
  void descend(const Node& node, Address base) noexcept;

  Address address_ = 0;  // in the current run
  MPI_Count length_ = 0;
  Address run_ = 0;  // start of the current run
  MPI_Count block_ = 0;
  MPI_Count stride_ = 0;
  MPI_Count left_ = 0;  // runs after the current one in the batch

  Frame* frames_ = inline_;
  int top_ = -1;  // index of the innermost loop or list
  Frame inline_[kInlineFrames];
  std::unique_ptr<Frame[]> more_;  // only for layouts nested deeper than that
};

}  // namespace tmpi::mpi
