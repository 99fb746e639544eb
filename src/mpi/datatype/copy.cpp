// copy_typed: from one layout into another.
#include <algorithm>

#include "mpi/datatype/cursor.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/message.hpp"
#include "mpi/datatype/stream.hpp"

namespace tmpi::mpi {

namespace {

/// The general case: both sides irregular. Each step copies as many blocks as the shapes of both sides allow
/// in one loop.
void copy_runs(const Node& to, Address dst_base, const Node& from, Address src_base,
               MPI_Count bytes) noexcept {
  Cursor dst(to, dst_base);
  Cursor src(from, src_base);
  while (bytes > 0) {
    const MPI_Count dlength = dst.length();
    const MPI_Count slength = src.length();
    const MPI_Count length = std::min({dlength, slength, bytes});
    if (dlength == slength && length == dlength) {
      const MPI_Count blocks = std::min({dst.blocks(), src.blocks(), bytes / length});
      copy_blocks(dst.address(), dst.stride(), src.address(), src.stride(), length, blocks);
      dst.skip_blocks(blocks);
      src.skip_blocks(blocks);
      bytes -= blocks * length;
    } else if (length == dlength &&
               length < slength) {  // one long source run fills several destination blocks
      const MPI_Count blocks = std::min({dst.blocks(), slength / length, bytes / length});
      copy_blocks(dst.address(), dst.stride(), src.address(), length, length, blocks);
      dst.skip_blocks(blocks);
      src.skip_bytes(blocks * length);
      bytes -= blocks * length;
    } else if (length == slength &&
               length < dlength) {  // several source blocks fill one long destination run
      const MPI_Count blocks = std::min({src.blocks(), dlength / length, bytes / length});
      copy_blocks(dst.address(), length, src.address(), src.stride(), length, blocks);
      src.skip_blocks(blocks);
      dst.skip_bytes(blocks * length);
      bytes -= blocks * length;
    } else {  // the last bytes end inside a run of both
      copy_run(dst.address(), src.address(), length);
      return;
    }
  }
}

}  // namespace

MPI_Count copy_typed(void* dst, MPI_Count dcount, const Datatype& dtype, const void* src, MPI_Count scount,
                     const Datatype& stype) {
  const MPI_Count bytes = std::min(dcount * dtype.size(), scount * stype.size());
  if (bytes == 0) return 0;
  if (dtype.contiguous() && stype.contiguous()) {
    std::memcpy(dst, src, static_cast<std::size_t>(bytes));
    return bytes;
  }
  const Node to = message_node(dcount, dtype);
  const Node from = message_node(scount, stype);
  if (to.form == Node::Form::kRun)
    move_stream<Direction::kPack>(from, address_of(src), moved(address_of(dst), to.offset), 0, bytes);
  else if (from.form == Node::Form::kRun)
    move_stream<Direction::kUnpack>(to, address_of(dst), moved(address_of(src), from.offset), 0, bytes);
  else
    copy_runs(to, address_of(dst), from, address_of(src), bytes);
  return bytes;
}

}  // namespace tmpi::mpi
