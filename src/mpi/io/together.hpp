// What the members of a file's communicator do together: small values to and from everybody. Each is a collective
// on `comm`, the file's own communicator or a shadow of it. All SUSPEND.
#pragma once

#include <type_traits>
#include <vector>

#include "mpi/coll/coll.hpp"
#include "mpi/op/op.hpp"

namespace tmpi::mpi {

/// Everybody's `mine`, by rank.
template <class T>
Err gather_all(Comm& comm, const T& mine, std::vector<T>& all) {
  static_assert(std::is_trivially_copyable_v<T>);
  all.resize(static_cast<std::size_t>(comm.size));
  Args args{.collective = Collective::kAllgather};
  args.send = {.data = const_cast<T*>(&mine), .count = sizeof(T), .type = checked_type(MPI_BYTE)};
  args.recv = {.data = all.data(), .count = sizeof(T), .type = checked_type(MPI_BYTE)};
  return run(comm, args);
}

/// The value of `root`, to everybody.
template <class T>
Err from_member(Comm& comm, int root, T* value) {
  static_assert(std::is_trivially_copyable_v<T>);
  Args args{.collective = Collective::kBcast, .root = root};
  args.recv = {.data = value, .count = sizeof(T), .type = checked_type(MPI_BYTE)};
  return run(comm, args);
}

template <class T>
Err from_first(Comm& comm, T* value) {
  return from_member(comm, 0, value);
}

/// The smallest of everybody's values, one by one.
Err smallest(Comm& comm, MPI_Count* values, MPI_Count count);

/// The sum of the values of lower ranks, and of all.
Err sums(Comm& comm, MPI_Count mine, MPI_Count& before, MPI_Count& all);

/// Members may have failed, each on its own: `mine` is this one's error. Everybody returns its own error, or that
/// rank so and so has failed.
Err agree_on(Comm& comm, Err mine, const char* doing);

}  // namespace tmpi::mpi
