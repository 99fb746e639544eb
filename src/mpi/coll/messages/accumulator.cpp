#include "mpi/coll/messages/accumulator.hpp"

namespace tmpi::mpi {

ElementBuffer::ElementBuffer(const Datatype& type, MPI_Count count) {
  const ElementRoom room = room_for(type, count);
  if (room.bytes > kShort) memory_ = std::make_unique_for_overwrite<std::byte[]>(room.bytes);
  data_ = (memory_ != nullptr ? memory_.get() : short_) + room.origin;
}

Accumulator::Accumulator(const Args& args, MPI_Count count, void* place)
    : op_(*args.op),
      type_(*args.recv.type),
      count_(count),
      value_(place == nullptr ? own_.emplace(type_, count).data() : static_cast<std::byte*>(place)),
      incoming_(type_, count) {
  if (count > 0 && value_ != args.input()) copy_elements(value_, args.input(), 0, count, type_);
}

void Accumulator::fold_lower(MPI_Count first, MPI_Count count) {
  const MPI_Count offset = first * type_.extent();
  reduce_local(op_, incoming_.data() + offset, value_ + offset, count, type_);
}

void Accumulator::fold_upper(MPI_Count first, MPI_Count count) {
  // The predefined operators that commute do so to the bit.
  if (op_.predefined() && op_.commutative) return fold_lower(first, count);
  if (count == 0) return;
  const MPI_Count offset = first * type_.extent();
  reduce_local(op_, value_ + offset, incoming_.data() + offset, count, type_);
  copy_elements(value_, incoming_.data(), first, count, type_);
}

void Accumulator::store(void* result) {
  if (count_ > 0 && result != value_)
    copy_elements(static_cast<std::byte*>(result), value_, 0, count_, type_);
}

PowerOfTwo::PowerOfTwo(int rank, int members) : rank_(rank) {
  while (2 * size_ <= members) size_ *= 2;
  pairs_ = members - size_;
  position_ = rank >= 2 * pairs_ ? rank - pairs_ : rank % 2 != 0 ? rank / 2 : -1;
}

void PowerOfTwo::enter(Messages& messages, Accumulator& accumulator) const {
  if (rank_ >= 2 * pairs_) return;
  if (position_ < 0) return messages.send(accumulator.value(), rank_ + 1);
  messages.recv(accumulator.incoming(), rank_ - 1);
  accumulator.fold_lower();
}

void PowerOfTwo::leave(Messages& messages, Accumulator& accumulator) const {
  if (rank_ >= 2 * pairs_) return;
  if (position_ < 0) return messages.recv(accumulator.value(), rank_ + 1);
  messages.send(accumulator.value(), rank_ - 1);
}

}  // namespace tmpi::mpi
