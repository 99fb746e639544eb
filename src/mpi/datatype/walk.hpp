// Walk: visits all bytes of a layout, or a range of its packed stream, in loops as large as its shape allows.
// What is done with the bytes is the Mover's: pack, unpack (stream.cpp), or copy between two memories of the
// same layout (copy.cpp). A Mover has
//
//   Place                                     where the node is: an address, or several that move together;
//                                             moved(place, bytes) says where it is `bytes` further on
//   void run(Place, length)                   one run
//   void fixed<kBytes>(Place)                 one run of a size known to the compiler
//   void blocks(Place, length, stride, n)     n runs, `stride` apart
//   void field(Place, length, stride, start, size, n)
//                                             the run of n records (`stride` apart in memory) that stands
//                                             `start` bytes from the beginning of each record of `size` bytes
//                                             in the packed stream
//   void advance(bytes)                       after the fields of some records: the packed stream goes on
//                                             behind them
//
// and is called in type-map order, but for the fields of records.
#pragma once

#include <algorithm>

#include "mpi/datatype/kernels.hpp"
#include "mpi/datatype/node.hpp"

namespace tmpi::mpi {

template <class Mover>
class Walk {
 public:
  using Place = typename Mover::Place;

  explicit Walk(Mover mover) noexcept : mover_(mover) {}

  /// All bytes of `node`.
  void all(const Node& node, Place place) noexcept {
    place = moved(place, node.offset);
    switch (node.form) {
      case Node::Form::kEmpty:
        return;
      case Node::Form::kRun:
        return mover_.run(place, node.length);
      case Node::Form::kBlocks:
        return mover_.blocks(place, node.length, node.stride, node.count);
      case Node::Form::kRuns:
        return runs(node, place, 0, node.count);
      case Node::Form::kLoop:
        return loop(node, place, 0, node.count);
      case Node::Form::kList:
        for (MPI_Count i = 0; i < node.count; ++i)
          all(*node.parts[i].node, moved(place, node.parts[i].offset));
        return;
    }
  }

  /// Bytes [from, to) of the stream of `node`: the end of a first piece, whole pieces, the start of a last
  /// one.
  void range(const Node& node, Place place, MPI_Count from, MPI_Count to) noexcept {
    if (from >= to) return;
    if (from == 0 && to == node.size) return all(node, place);
    place = moved(place, node.offset);
    switch (node.form) {
      case Node::Form::kEmpty:
        return;
      case Node::Form::kRun:
        return mover_.run(moved(place, from), to - from);
      case Node::Form::kBlocks:
        return part_of_blocks(node, place, from, to);
      case Node::Form::kRuns:
        return part_of_runs(node, place, from, to);
      case Node::Form::kLoop:
        return part_of_loop(node, place, from, to);
      case Node::Form::kList:
        return part_of_list(node, place, from, to);
    }
  }

 private:
  /// A loop over at most this many runs (an array of structs) is done run by run over a chunk of elements.
  static constexpr MPI_Count kRecordRuns = 12;
  /// Bytes of memory in such a chunk: small enough to stay in the first-level cache between the runs.
  static constexpr MPI_Count kChunkBytes = 8192;

  template <std::size_t kBytes>
  void fixed_runs(const Run* first, Place place, MPI_Count count) noexcept {
    for (MPI_Count i = 0; i < count; ++i) mover_.template fixed<kBytes>(moved(place, first[i].offset));
  }

  void runs(const Node& node, Place place, MPI_Count first, MPI_Count last) noexcept {
    switch (node.length) {
      case 4:
        return fixed_runs<4>(node.runs + first, place, last - first);
      case 8:
        return fixed_runs<8>(node.runs + first, place, last - first);
      case 16:
        return fixed_runs<16>(node.runs + first, place, last - first);
      default:
        break;
    }
    for (MPI_Count i = first; i < last; ++i)
      mover_.run(moved(place, node.runs[i].offset), node.runs[i + 1].start - node.runs[i].start);
  }

  void loop(const Node& node, Place place, MPI_Count first, MPI_Count last) noexcept {
    const Node& child = *node.child;
    place = moved(place, first * node.stride);
    MPI_Count count = last - first;
    if (child.form == Node::Form::kRuns && child.count <= kRecordRuns && count > 4) {
      return records(child, moved(place, child.offset), node.stride, count);
    }
    for (; count > 0; --count) {
      all(child, place);
      place = moved(place, node.stride);
    }
  }

  /// `count` records, `stride` apart: each run of the record is a strided loop over a chunk of them.
  void records(const Node& record, Place place, MPI_Count stride, MPI_Count count) noexcept {
    const MPI_Count chunk =
        std::max<MPI_Count>(8, kChunkBytes / std::max(record.size, stride < 0 ? -stride : stride));
    while (count > 0) {
      const MPI_Count now = std::min(count, chunk);
      for (MPI_Count r = 0; r < record.count; ++r) {
        const Run& run = record.runs[r];
        mover_.field(moved(place, run.offset), record.runs[r + 1].start - run.start, stride, run.start,
                     record.size, now);
      }
      mover_.advance(now * record.size);
      place = moved(place, now * stride);
      count -= now;
    }
  }

  void part_of_blocks(const Node& node, Place place, MPI_Count from, MPI_Count to) noexcept {
    MPI_Count first = from / node.length;
    const MPI_Count last = to / node.length;
    const MPI_Count skip = from % node.length;
    if (first == last) return mover_.run(moved(place, first * node.stride + skip), to - from);
    if (skip != 0) mover_.run(moved(place, first++ * node.stride + skip), node.length - skip);
    mover_.blocks(moved(place, first * node.stride), node.length, node.stride, last - first);
    mover_.run(moved(place, last * node.stride), to % node.length);
  }

  void part_of_loop(const Node& node, Place place, MPI_Count from, MPI_Count to) noexcept {
    const Node& child = *node.child;
    MPI_Count first = from / child.size;
    const MPI_Count last = to / child.size;
    const MPI_Count skip = from % child.size;
    if (first == last) return range(child, moved(place, first * node.stride), skip, to % child.size);
    if (skip != 0) range(child, moved(place, first++ * node.stride), skip, child.size);
    loop(node, place, first, last);
    range(child, moved(place, last * node.stride), 0, to % child.size);
  }

  /// Index of the entry that holds byte `position` of the stream.
  template <class Entry>
  static MPI_Count find(const Entry* entries, MPI_Count count, MPI_Count position) noexcept {
    const Entry* after =
        std::upper_bound(entries, entries + count, position,
                         [](MPI_Count value, const Entry& entry) { return value < entry.start; });
    return after - entries - 1;
  }

  void part_of_runs(const Node& node, Place place, MPI_Count from, MPI_Count to) noexcept {
    const Run* entries = node.runs;
    MPI_Count first = find(entries, node.count, from);
    const MPI_Count last = to == node.size ? node.count : find(entries, node.count, to);
    const MPI_Count skip = from - entries[first].start;
    if (first == last) return mover_.run(moved(place, entries[first].offset + skip), to - from);
    if (skip != 0) {
      mover_.run(moved(place, entries[first].offset + skip), entries[first + 1].start - from);
      ++first;
    }
    runs(node, place, first, last);
    if (last < node.count) mover_.run(moved(place, entries[last].offset), to - entries[last].start);
  }

  void part_of_list(const Node& node, Place place, MPI_Count from, MPI_Count to) noexcept {
    for (MPI_Count i = find(node.parts, node.count, from); i < node.count && node.parts[i].start < to; ++i) {
      const Part& part = node.parts[i];
      range(*part.node, moved(place, part.offset), std::max<MPI_Count>(from - part.start, 0),
            std::min(to - part.start, part.node->size));
    }
  }

  Mover mover_;
};

}  // namespace tmpi::mpi
