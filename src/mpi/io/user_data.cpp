#include "mpi/io/user_data.hpp"

#include <cstring>

#include "mpi/io/representation.hpp"

namespace tmpi::mpi {

UserData::~UserData() {
  if (type_ != nullptr) type_->release();
}

Err UserData::prepare(Transfer transfer, std::shared_ptr<const View> view, void* buffer, MPI_Count count,
                      const Datatype& type) {
  transfer_ = transfer;
  view_ = std::move(view);
  buffer_ = buffer;
  count_ = count;
  type_ = &type;
  type.retain();
  unit_ = type.size();
  const Representation* representation = view_->representation();
  if (representation != nullptr) TMPI_TRY(size_in_file(type, *representation, unit_));
  if (__builtin_mul_overflow(count, unit_, &bytes_))
    return fail(MPI_ERR_COUNT, "{} elements of {} bytes are more than a file can have", count, unit_);
  if (bytes_ % view_->unit() != 0)
    return fail(MPI_ERR_IO,
                "{} bytes are no whole number of etypes, which have {} bytes each: the datatype of a read or "
                "write has "
                "to be made of the view's etype",
                bytes_, view_->unit());
  if (representation == nullptr) return kOk;
  copy_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes_));
  return transfer == Transfer::kWrite ? representation->to_file(copy_.get(), buffer, count, type) : kOk;
}

Access UserData::access(MPI_Count start) const {
  const Datatype& byte = *datatype_from(MPI_BYTE);
  return {.transfer = transfer_,
          .view = view_,
          .start = start,
          .bytes = bytes_,
          .memory = copy_ != nullptr ? Memory(copy_.get(), bytes_, byte) : Memory(buffer_, count_, *type_)};
}

Err UserData::finish(MPI_Count done, MPI_Count& in_memory) {
  in_memory = done;
  if (copy_ == nullptr) return kOk;
  TMPI_TRY(size_in_memory(*type_, *view_->representation(), done, in_memory));
  return transfer_ == Transfer::kRead ? convert_back(done) : kOk;
}

// An element that has come in part keeps in memory what has not.
Err UserData::convert_back(MPI_Count done) {
  if (unit_ == 0 || done == 0) return kOk;
  const Representation& representation = *view_->representation();
  const MPI_Count whole = done / unit_, rest = done % unit_;
  TMPI_TRY(representation.from_file(buffer_, whole, *type_, copy_.get()));
  if (rest == 0) return kOk;
  auto* element = static_cast<std::byte*>(buffer_) + whole * type_->extent();
  const auto mixed = std::make_unique<std::byte[]>(static_cast<std::size_t>(unit_));
  TMPI_TRY(representation.to_file(mixed.get(), element, 1, *type_));
  std::memcpy(mixed.get(), copy_.get() + whole * unit_, static_cast<std::size_t>(rest));
  return representation.from_file(element, 1, *type_, mixed.get());
}

}  // namespace tmpi::mpi
