#include "mpi/datatype/stream.hpp"

#include <algorithm>

#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/message.hpp"

namespace tmpi::mpi {

namespace {

/// One direction of the walk. Both functions advance `stream_` by what they move.
template <Direction kDirection>
class Mover {
 public:
  explicit Mover(Address packed) noexcept : stream_(packed) {}

  /// All bytes of `node`.
  void all(const Node& node, Address base) noexcept {
    base = moved(base, node.offset);
    switch (node.form) {
      case Node::Form::kEmpty:
        return;
      case Node::Form::kRun:
        return run(base, node.length);
      case Node::Form::kBlocks:
        return blocks(base, node.length, node.stride, node.count);
      case Node::Form::kRuns:
        return runs(node, base, 0, node.count);
      case Node::Form::kLoop:
        return loop(node, base, 0, node.count);
      case Node::Form::kList:
        for (MPI_Count i = 0; i < node.count; ++i)
          all(*node.parts[i].node, moved(base, node.parts[i].offset));
        return;
    }
  }

  /// Bytes [from, to) of the stream of `node`: the end of a first piece, whole pieces, the start of a last
  /// one.
  void range(const Node& node, Address base, MPI_Count from, MPI_Count to) noexcept {
    if (from >= to) return;
    if (from == 0 && to == node.size) return all(node, base);
    base = moved(base, node.offset);
    switch (node.form) {
      case Node::Form::kEmpty:
        return;
      case Node::Form::kRun:
        return run(moved(base, from), to - from);
      case Node::Form::kBlocks:
        return part_of_blocks(node, base, from, to);
      case Node::Form::kRuns:
        return part_of_runs(node, base, from, to);
      case Node::Form::kLoop:
        return part_of_loop(node, base, from, to);
      case Node::Form::kList:
        return part_of_list(node, base, from, to);
    }
  }

 private:
  void run(Address memory, MPI_Count length) noexcept {
    if constexpr (kDirection == Direction::kPack)
      copy_run(stream_, memory, length);
    else
      copy_run(memory, stream_, length);
    stream_ = moved(stream_, length);
  }

  void blocks(Address memory, MPI_Count length, MPI_Count stride, MPI_Count count) noexcept {
    if constexpr (kDirection == Direction::kPack)
      copy_blocks(stream_, length, memory, stride, length, count);
    else
      copy_blocks(memory, stride, stream_, length, length, count);
    stream_ = moved(stream_, length * count);
  }

  template <std::size_t kBytes>
  void fixed_runs(const Run* first, Address base, MPI_Count count) noexcept {
    for (MPI_Count i = 0; i < count; ++i) {
      const Address memory = moved(base, first[i].offset);
      if constexpr (kDirection == Direction::kPack)
        copy_fixed<kBytes>(stream_, memory);
      else
        copy_fixed<kBytes>(memory, stream_);
      stream_ += kBytes;
    }
  }

  void runs(const Node& node, Address base, MPI_Count first, MPI_Count last) noexcept {
    switch (node.length) {
      case 4:
        return fixed_runs<4>(node.runs + first, base, last - first);
      case 8:
        return fixed_runs<8>(node.runs + first, base, last - first);
      case 16:
        return fixed_runs<16>(node.runs + first, base, last - first);
      default:
        break;
    }
    for (MPI_Count i = first; i < last; ++i)
      run(moved(base, node.runs[i].offset), node.runs[i + 1].start - node.runs[i].start);
  }

  void loop(const Node& node, Address base, MPI_Count first, MPI_Count last) noexcept {
    const Node& child = *node.child;
    Address address = moved(base, first * node.stride);
    for (MPI_Count i = first; i < last; ++i) {
      all(child, address);
      address = moved(address, node.stride);
    }
  }

  void part_of_blocks(const Node& node, Address base, MPI_Count from, MPI_Count to) noexcept {
    MPI_Count first = from / node.length;
    const MPI_Count last = to / node.length;
    const MPI_Count skip = from % node.length;
    if (first == last) return run(moved(base, first * node.stride + skip), to - from);
    if (skip != 0) run(moved(base, first++ * node.stride + skip), node.length - skip);
    blocks(moved(base, first * node.stride), node.length, node.stride, last - first);
    run(moved(base, last * node.stride), to % node.length);
  }

  void part_of_loop(const Node& node, Address base, MPI_Count from, MPI_Count to) noexcept {
    const Node& child = *node.child;
    MPI_Count first = from / child.size;
    const MPI_Count last = to / child.size;
    const MPI_Count skip = from % child.size;
    if (first == last) return range(child, moved(base, first * node.stride), skip, to % child.size);
    if (skip != 0) range(child, moved(base, first++ * node.stride), skip, child.size);
    loop(node, base, first, last);
    range(child, moved(base, last * node.stride), 0, to % child.size);
  }

  /// Index of the entry that holds byte `position` of the stream.
  template <class Entry>
  static MPI_Count find(const Entry* entries, MPI_Count count, MPI_Count position) noexcept {
    const Entry* after =
        std::upper_bound(entries, entries + count, position,
                         [](MPI_Count value, const Entry& entry) { return value < entry.start; });
    return after - entries - 1;
  }

  void part_of_runs(const Node& node, Address base, MPI_Count from, MPI_Count to) noexcept {
    const Run* entries = node.runs;
    MPI_Count first = find(entries, node.count, from);
    const MPI_Count last = to == node.size ? node.count : find(entries, node.count, to);
    const MPI_Count skip = from - entries[first].start;
    if (first == last) return run(moved(base, entries[first].offset + skip), to - from);
    if (skip != 0) {
      run(moved(base, entries[first].offset + skip), entries[first + 1].start - from);
      ++first;
    }
    runs(node, base, first, last);
    if (last < node.count) run(moved(base, entries[last].offset), to - entries[last].start);
  }

  void part_of_list(const Node& node, Address base, MPI_Count from, MPI_Count to) noexcept {
    for (MPI_Count i = find(node.parts, node.count, from); i < node.count && node.parts[i].start < to; ++i) {
      const Part& part = node.parts[i];
      range(*part.node, moved(base, part.offset), std::max<MPI_Count>(from - part.start, 0),
            std::min(to - part.start, part.node->size));
    }
  }

  Address stream_;
};

}  // namespace

template <Direction kDirection>
void move_stream(const Node& node, Address base, Address packed, MPI_Count from, MPI_Count to) noexcept {
  Mover<kDirection>(packed).range(node, base, from, to);
}
template void move_stream<Direction::kPack>(const Node&, Address, Address, MPI_Count, MPI_Count) noexcept;
template void move_stream<Direction::kUnpack>(const Node&, Address, Address, MPI_Count, MPI_Count) noexcept;

void pack_segment(void* packed, const void* buf, MPI_Count count, const Datatype& type, MPI_Count offset,
                  MPI_Count length) {
  move_stream<Direction::kPack>(message_node(count, type), address_of(buf), address_of(packed), offset,
                                offset + length);
}

void unpack_segment(void* buf, MPI_Count count, const Datatype& type, const void* packed, MPI_Count offset,
                    MPI_Count length) {
  move_stream<Direction::kUnpack>(message_node(count, type), address_of(buf), address_of(packed), offset,
                                  offset + length);
}

void* single_run(const void* buf, MPI_Count count, const Datatype& type) noexcept {
  const Node node = message_node(count, type);
  if (node.form != Node::Form::kRun) return nullptr;
  return reinterpret_cast<void*>(moved(address_of(buf), node.offset));
}

}  // namespace tmpi::mpi
