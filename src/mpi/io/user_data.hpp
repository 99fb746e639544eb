// UserData: what a call reads or writes, as the file has it: the user's memory itself, or, if the file's
// representation is not the native one, a converted copy.
#pragma once

#include <memory>

#include "mpi/io/access.hpp"

namespace tmpi::mpi {

class UserData {
 public:
  UserData() = default;
  ~UserData();
  UserData(const UserData&) = delete;
  UserData& operator=(const UserData&) = delete;

  /// Once. Arguments have been checked. The memory and the view stay; the type is kept.
  Err prepare(Transfer transfer, std::shared_ptr<const View> view, void* buffer, MPI_Count count,
              const Datatype& type);

  MPI_Count bytes() const noexcept { return bytes_; }  ///< in the file
  Access access(MPI_Count start) const;
  /// `done` bytes have been moved: converts what has been read. `in_memory`: bytes of the user's datatype.
  Err finish(MPI_Count done, MPI_Count& in_memory);

 private:
  Err convert_back(MPI_Count done);

  Transfer transfer_ = Transfer::kRead;
  std::shared_ptr<const View> view_;
  void* buffer_ = nullptr;
  MPI_Count count_ = 0;
  const Datatype* type_ = nullptr;
  MPI_Count bytes_ = 0;
  MPI_Count unit_ = 0;  // bytes in the file of an element
  std::unique_ptr<std::byte[]> copy_;
};

}  // namespace tmpi::mpi
