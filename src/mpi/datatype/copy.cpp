// copy_typed: from one layout into another.
#include <algorithm>

#include "mpi/datatype/cursor.hpp"
#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/message.hpp"
#include "mpi/datatype/stream.hpp"
#include "mpi/datatype/walk.hpp"

namespace tmpi::mpi {

namespace {

/// The same place in two memories of one layout.
struct TwinPlace {
  Address dst;
  Address src;
};
TwinPlace moved(TwinPlace place, MPI_Count offset) noexcept {
  return {tmpi::mpi::moved(place.dst, offset), tmpi::mpi::moved(place.src, offset)};
}

/// Copies between two memories of one layout: the usual case, since both sides mostly build the same type.
struct TwinMover {
  using Place = TwinPlace;
  void run(Place place, MPI_Count length) noexcept { copy_run(place.dst, place.src, length); }
  template <std::size_t kBytes>
  void fixed(Place place) noexcept {
    copy_fixed<kBytes>(place.dst, place.src);
  }
  void blocks(Place place, MPI_Count length, MPI_Count stride, MPI_Count count) noexcept {
    copy_blocks(place.dst, stride, place.src, stride, length, count);
  }
  void field(Place place, MPI_Count length, MPI_Count stride, MPI_Count, MPI_Count,
             MPI_Count count) noexcept {
    copy_blocks(place.dst, stride, place.src, stride, length, count);
  }
  void advance(MPI_Count) noexcept {}
};

/// True if both nodes describe the same bytes in the same order, apart from their own offsets. Looks at every
/// run once, which costs less than copying it.
bool same_shape(const Node& a, const Node& b) noexcept {
  if (a.form != b.form || a.size != b.size || a.count != b.count || a.length != b.length ||
      a.stride != b.stride)
    return false;
  switch (a.form) {
    case Node::Form::kRuns:
      return a.runs == b.runs || std::equal(a.runs, a.runs + a.count, b.runs, [](Run x, Run y) {
               return x.offset == y.offset && x.start == y.start;
             });
    case Node::Form::kLoop:
      return a.child == b.child || (a.child->offset == b.child->offset && same_shape(*a.child, *b.child));
    case Node::Form::kList:
      return a.parts == b.parts ||
             std::equal(a.parts, a.parts + a.count, b.parts, [](const Part& x, const Part& y) {
               return x.offset == y.offset && x.node->offset == y.node->offset &&
                      same_shape(*x.node, *y.node);
             });
    default:
      return true;
  }
}

/// The general case: both sides irregular. Each step copies as many blocks as the shapes of both sides allow
/// in one loop.
void copy_runs(const Node& to, Address dst_base, const Node& from, Address src_base,
               MPI_Count bytes) noexcept {
  Cursor dst(to, dst_base);
  Cursor src(from, src_base);
  while (bytes > 0) {
    const MPI_Count dlength = dst.length();
    const MPI_Count slength = src.length();
    const MPI_Count length = std::min(dlength, slength);
    if (length > bytes) {  // the last bytes end inside a run of both
      copy_run(dst.address(), src.address(), bytes);
      return;
    }
    // How many blocks of `length` fit into one loop: whole runs of a side that has runs of this length,
    // pieces of one longer run else.
    const MPI_Count dblocks = dlength == length ? dst.blocks() : dlength / length;
    const MPI_Count sblocks = slength == length ? src.blocks() : slength / length;
    const MPI_Count blocks = std::min(dblocks, sblocks);
    if (blocks == 1 || bytes < 2 * length) {
      copy_run(dst.address(), src.address(), length);
      dst.skip_bytes(length);
      src.skip_bytes(length);
      bytes -= length;
      continue;
    }
    const MPI_Count count = std::min(blocks, bytes / length);
    copy_blocks(dst.address(), dlength == length ? dst.stride() : length, src.address(),
                slength == length ? src.stride() : length, length, count);
    dlength == length ? dst.skip_blocks(count) : dst.skip_bytes(count * length);
    slength == length ? src.skip_blocks(count) : src.skip_bytes(count * length);
    bytes -= count * length;
  }
}

}  // namespace

MPI_Count copy_typed(void* dst, MPI_Count dcount, const Datatype& dtype, const void* src, MPI_Count scount,
                     const Datatype& stype) {
  if (dtype.size() == stype.size()) dcount = scount = std::min(dcount, scount);
  const MPI_Count bytes = std::min(dcount * dtype.size(), scount * stype.size());
  if (bytes == 0) return 0;
  if (dtype.contiguous() && stype.contiguous()) {
    std::memcpy(dst, src, static_cast<std::size_t>(bytes));
    return bytes;
  }
  const Node to = message_node(dcount, dtype);
  const Node from = message_node(scount, stype);
  const Address dst_base = address_of(dst);
  const Address src_base = address_of(src);
  if (to.form == Node::Form::kRun)
    move_stream<Direction::kPack>(from, src_base, moved(dst_base, to.offset), 0, bytes);
  else if (from.form == Node::Form::kRun)
    move_stream<Direction::kUnpack>(to, dst_base, moved(src_base, from.offset), 0, bytes);
  else if (same_shape(to, from))
    Walk<TwinMover>(TwinMover{})
        .all(shifted(from, -from.offset), {moved(dst_base, to.offset), moved(src_base, from.offset)});
  else
    copy_runs(to, dst_base, from, src_base, bytes);
  return bytes;
}

}  // namespace tmpi::mpi
