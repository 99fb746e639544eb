#include "mpi/datatype/stream.hpp"

#include "mpi/datatype/datatype.hpp"
#include "mpi/datatype/message.hpp"
#include "mpi/datatype/walk.hpp"

namespace tmpi::mpi {

namespace {

/// Moves between memory and the packed stream, which advances with every call.
template <Direction kDirection>
class StreamMover {
 public:
  using Place = Address;
  static constexpr bool kPack = kDirection == Direction::kPack;

  explicit StreamMover(Address packed) noexcept : stream_(packed) {}

  void run(Place memory, MPI_Count length) noexcept {
    if constexpr (kPack)
      copy_run(stream_, memory, length);
    else
      copy_run(memory, stream_, length);
    advance(length);
  }

  template <std::size_t kBytes>
  void fixed(Place memory) noexcept {
    if constexpr (kPack)
      copy_fixed<kBytes>(stream_, memory);
    else
      copy_fixed<kBytes>(memory, stream_);
    stream_ += kBytes;
  }

  void blocks(Place memory, MPI_Count length, MPI_Count stride, MPI_Count count) noexcept {
    field(memory, length, stride, 0, length, count);
    advance(length * count);
  }

  void field(Place memory, MPI_Count length, MPI_Count stride, MPI_Count start, MPI_Count size,
             MPI_Count count) noexcept {
    const Address packed = moved(stream_, start);
    if constexpr (kPack)
      copy_blocks(packed, size, memory, stride, length, count);
    else
      copy_blocks(memory, stride, packed, size, length, count);
  }

  void advance(MPI_Count bytes) noexcept { stream_ = moved(stream_, bytes); }

 private:
  Address stream_;
};

}  // namespace

template <Direction kDirection>
void move_stream(const Node& node, Address base, Address packed, MPI_Count from, MPI_Count to) noexcept {
  Walk<StreamMover<kDirection>>(StreamMover<kDirection>(packed)).range(node, base, from, to);
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
