// The objects of a rank as carriers of attributes (base/attributes.hpp).
#pragma once

#include "mpi/base/attributes.hpp"
#include "mpi/comm/comm.hpp"
#include "mpi/datatype/datatype.hpp"

namespace tmpi::mpi {

struct Rank;

/// The rank's attribute keys; made with the first call.
Keyvals& keyvals(Rank& rank);

/// For the functions of base/attributes.hpp. A datatype is taken as one of the calling rank's.
Bearer bearer_of(Comm& comm) noexcept;
Bearer bearer_of(Datatype& type);

template <class Object>
Err copy_attributes(Object& from, Object& to) {
  return copy_attributes(bearer_of(from), bearer_of(to));
}
template <class Object>
Err delete_attributes(Object& object) {
  return delete_attributes(bearer_of(object));
}

}  // namespace tmpi::mpi
