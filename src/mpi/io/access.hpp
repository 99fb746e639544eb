// Access: what one rank reads or writes: bytes of its view's stream, and where they are in its memory. Other ranks of
// its node process may move them, too: everything here can be read by any thread while the rank waits.
#pragma once

#include "mpi/datatype/message.hpp"
#include "mpi/datatype/stream.hpp"
#include "mpi/io/view.hpp"

namespace tmpi::mpi {

/// Data in memory as a packed stream of bytes. The datatype outlives it.
class Memory {
 public:
  Memory(const void* buffer, MPI_Count count, const Datatype& type)
      : node_(message_node(count, type)), base_(address_of(buffer)) {}

  /// Where byte `position` is if all is one run; else null.
  std::byte* direct(MPI_Count position) const noexcept {
    if (node_.form != Node::Form::kRun) return nullptr;
    return reinterpret_cast<std::byte*>(moved(base_, node_.offset + position));
  }
  void gather(std::byte* to, MPI_Count position, MPI_Count bytes) const noexcept {
    if (const std::byte* from = direct(position)) {
      __builtin_memcpy(to, from, static_cast<std::size_t>(bytes));
    } else {
      move_stream<Direction::kPack>(node_, base_, address_of(to), position, position + bytes);
    }
  }
  void scatter(const std::byte* from, MPI_Count position, MPI_Count bytes) const noexcept {
    if (std::byte* to = direct(position)) {
      __builtin_memcpy(to, from, static_cast<std::size_t>(bytes));
    } else {
      move_stream<Direction::kUnpack>(node_, base_, address_of(from), position, position + bytes);
    }
  }

 private:
  Node node_;
  Address base_;
};

enum class Transfer : bool { kRead, kWrite };

struct Access {
  Transfer transfer;
  std::shared_ptr<const View> view;
  MPI_Count start;  ///< byte of the view's stream
  MPI_Count bytes;
  Memory memory;

  MPI_Count end() const noexcept { return start + bytes; }
  bool ascending() const noexcept { return bytes == 0 || view->ascending(start, end()); }
  bool contiguous() const {
    return view->contiguous() || (bytes > 0 && ViewCursor(*view, start).length() >= bytes);
  }
  /// Bytes [first_offset(), end_offset()) of the file hold all of it, if it is ascending and not empty.
  MPI_Offset first_offset() const { return view->offset_of(start); }
  MPI_Offset end_offset() const { return view->offset_of(end() - 1) + 1; }
};

}  // namespace tmpi::mpi
